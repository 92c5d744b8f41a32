// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"bytes"
	"fmt"
	"slices"

	yamlv3 "go.yaml.in/yaml/v3"
)

// Decided is a Placement with the clusters in its decisions.
type Decided struct {
	// Placement is "namespace/name", and APIGroup is empty for the usual group.
	Placement, APIGroup string
	// Clusters are sorted.
	Clusters []string
}

// Record returns a file with a case for each of the Placements that expects its clusters exactly (docs/spec/placement-test.md PT13). Documents of the
// file that expect something else of a Placement stay as they are, and so do comments. New cases come last, in the order of the Placements.
func Record(content []byte, placements []Decided) ([]byte, error) {
	var file bytes.Buffer
	recorded := map[[2]string]bool{}
	for _, from := range split(content) {
		file.Write(from.separator)
		text := from.text
		if isCase(text) {
			changed, err := recordInto(text, placements, recorded)
			if err != nil {
				return nil, err
			}
			text = changed
		}
		file.Write(text)
	}
	for i := range placements {
		p := &placements[i]
		if recorded[[2]string{p.Placement, p.APIGroup}] {
			continue
		}
		if file.Len() > 0 && !bytes.HasSuffix(file.Bytes(), []byte("\n")) {
			file.WriteByte('\n')
		}
		if file.Len() > 0 {
			file.WriteString("---\n")
		}
		if err := writeCase(&file, p); err != nil {
			return nil, err
		}
	}
	return file.Bytes(), nil
}

// recordInto returns the text of a case with the clusters of its Placement. It returns the given text if nothing differs.
func recordInto(text []byte, placements []Decided, recorded map[[2]string]bool) ([]byte, error) {
	var root yamlv3.Node
	if err := yamlv3.Unmarshal(text, &root); err != nil {
		return nil, fmt.Errorf("reading the recorded cases: %w", err)
	}
	c := &Case{node: root.Content[0]}
	if err := c.convert(); err != nil {
		return nil, err
	}
	list := valueAt(c.node, "spec", "expect", "selected", "exactly")
	if c.Spec.When != nil || list == nil || list.Kind != yamlv3.SequenceNode {
		return text, nil
	}
	at := slices.IndexFunc(placements, func(p Decided) bool {
		return p.Placement == c.Spec.Objects.Placement && p.APIGroup == c.Spec.Objects.APIGroup
	})
	if at < 0 {
		return text, nil
	}
	clusters := placements[at].Clusters
	recorded[[2]string{placements[at].Placement, placements[at].APIGroup}] = true
	if slices.Equal(slices.Sorted(slices.Values(c.Spec.Expect.Selected.Exactly)), clusters) {
		return text, nil
	}
	known := map[string]*yamlv3.Node{}
	for _, item := range list.Content {
		known[item.Value] = item // It has the comments of the cluster.
	}
	list.Content = nil
	for _, cluster := range clusters {
		item := known[cluster]
		if item == nil {
			item = &yamlv3.Node{}
			item.SetString(cluster)
		}
		list.Content = append(list.Content, item)
	}
	encoded, err := encode(&root)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(text, []byte("\n")) { // It follows a separator.
		encoded = append([]byte("\n"), encoded...)
	}
	return encoded, nil
}

// valueAt returns the node of a field; nil if there is none.
func valueAt(node *yamlv3.Node, path ...string) *yamlv3.Node {
	for _, step := range path {
		_, value := lookup(resolve(node), step)
		if value == nil {
			return nil
		}
		node = value
	}
	return resolve(node)
}

const indent = 2

func encode(value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := yamlv3.NewEncoder(&text)
	encoder.SetIndent(indent)
	if err := encoder.Encode(value); err != nil {
		return nil, fmt.Errorf("writing a case: %w", err)
	}
	return text.Bytes(), nil
}

// writeCase writes a new case.
func writeCase(file *bytes.Buffer, p *Decided) error {
	name, objects := "decisions of "+p.Placement, map[string]string{"placement": p.Placement}
	if p.APIGroup != "" {
		name, objects["apiGroup"] = name+" of "+p.APIGroup, p.APIGroup
	}
	var c struct {
		APIVersion string            `yaml:"apiVersion"`
		Kind       string            `yaml:"kind"`
		Metadata   map[string]string `yaml:"metadata"`
		Spec       struct {
			Objects map[string]string         `yaml:"objects"`
			Expect  map[string]map[string]any `yaml:"expect"`
		} `yaml:"spec"`
	}
	c.APIVersion, c.Kind, c.Metadata = APIVersion, Kind, map[string]string{"name": name}
	c.Spec.Objects, c.Spec.Expect = objects, map[string]map[string]any{"selected": {"exactly": append([]string{}, p.Clusters...)}}
	text, err := encode(&c)
	file.Write(text)
	return err
}
