// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/placement-hub/placement-hub/manifests"
)

func main() {
	in := flag.String("manifests", ".", "directory of the manifests")
	deploy := flag.String("deploy", "../deploy", "directory of the kustomizations and charts")
	flag.Parse()
	chart := filepath.Join(*deploy, "charts", "placement-hub")
	if err := errors.Join(writeTemplates(*in, *deploy, chart), writeValues(chart, manifests.Systems())); err != nil {
		fmt.Fprintln(os.Stderr, "helmchart:", err)
		os.Exit(1)
	}
}

// Conditions of templates.
const (
	always     = "true"
	standalone = "not .Values.besideUpstream"
)

// template is a file of the chart, with the files that it is made of and the condition of its objects.
type template struct {
	name      string
	files     []string // patterns
	condition string
	labels    bool // the objects have the labels of the value monitoring.labels
}

// templates returns the files to write.
func templates(in, deploy string) []template {
	all := []template{ //nolint:prealloc // The list is to be read.
		{name: "crds", files: []string{in + "/crds/*.yaml"}, condition: standalone},
		{
			name:      "placement",
			files:     []string{in + "/rbac/placement/*.yaml", in + "/rbac/explanations/*.yaml", in + "/admission/readable/*.yaml"},
			condition: always,
		},
		{name: "hub", files: []string{in + "/rbac/*/*.yaml", in + "/admission/*.yaml"}, condition: standalone},
		{name: "webhook", files: []string{in + "/webhook/*.yaml"}, condition: standalone},
		{name: "manifestworks", files: []string{in + "/manifestworks/*.yaml"}, condition: always},
		{name: "multicluster", files: []string{in + "/multicluster/*.yaml"}, condition: ".Values.sigPlacementDecisions"},
		{name: "history", files: []string{in + "/history/*.yaml"}, condition: `eq (default "memory" (.Values.history).store) "configmaps"`},
		{name: "services", files: []string{deploy + "/base/controller/*service.yaml"}, condition: always},
		{name: "scraper", files: []string{deploy + "/monitoring/clusterrole.yaml"}, condition: ".Values.monitoring.scraper"},
		{
			name: "servicemonitor", files: []string{deploy + "/monitoring/servicemonitor.yaml"},
			condition: ".Values.monitoring.serviceMonitor", labels: true,
		},
		{
			name: "prometheusrule", files: []string{deploy + "/monitoring/prometheusrule.yaml"},
			condition: ".Values.monitoring.prometheusRule", labels: true,
		},
	}
	for _, system := range manifests.Systems() {
		all = append(all, template{name: "system-" + system, files: []string{in + "/" + system + "/*.yaml"}, condition: ".Values.systems." + system})
	}

	return all
}

// writeTemplates writes the templates, and removes those that are not written any more.
func writeTemplates(in, deploy, chart string) error {
	directory := filepath.Join(chart, "templates", "generated")
	if err := os.RemoveAll(directory); err != nil {
		return fmt.Errorf("removing the templates: %w", err)
	}
	if err := os.MkdirAll(directory, 0o755); err != nil { //nolint:gosec // Readable like its neighbours.
		return fmt.Errorf("making the directory of the templates: %w", err)
	}
	used := map[string]bool{}

	for _, t := range templates(in, deploy) {
		var files []string
		for _, pattern := range t.files {
			matches, err := filepath.Glob(pattern)
			if err != nil {
				return fmt.Errorf("looking for manifests: %w", err)
			}
			for _, file := range matches {
				if filepath.Base(file) != "kustomization.yaml" && !used[file] {
					used[file] = true
					files = append(files, file)
				}
			}
		}

		if len(files) == 0 {
			return fmt.Errorf("no file for the template %s: %v", t.name, t.files)
		}
		content, err := t.render(files)
		if err != nil {
			return err
		}
		if err := writeFile(filepath.Join(directory, t.name+".yaml"), content); err != nil {
			return err
		}
	}

	return nil
}

func writeFile(path, content string) error {
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil { //nolint:gosec // Readable like its neighbours.
		return fmt.Errorf("writing a part of the chart: %w", err)
	}
	return nil
}
