// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// The names of the program. kubectl runs the plugin for "kubectl placement", and the completer for its completion.
const (
	programName   = "placement"
	pluginName    = "kubectl-placement"
	completerName = "kubectl_complete-placement"
	pluginDisplay = "kubectl placement"
)

// baseName returns the file name of the program.
func baseName(name string) string { return strings.TrimSuffix(filepath.Base(name), ".exe") }

// isPlugin reports whether kubectl started the program.
func isPlugin(name string) bool {
	base := baseName(name)
	return base == pluginName || base == completerName
}

// asPlugin adapts the commands and the arguments to the name of the program.
func asPlugin(root *cobra.Command, name string, args []string) []string {
	switch baseName(name) {
	case completerName:
		args = slices.Concat([]string{cobra.ShellCompRequestCmd}, args)
	case pluginName:
	default:
		return args
	}
	root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: pluginDisplay}
	var pairs []string
	for _, cmd := range root.Commands() {
		pairs = append(pairs, programName+" "+cmd.Name(), pluginDisplay+" "+cmd.Name())
	}
	asTyped := strings.NewReplacer(pairs...)
	for _, cmd := range root.Commands() {
		cmd.Example, cmd.Long = asTyped.Replace(cmd.Example), asTyped.Replace(cmd.Long)
	}
	return args
}
