// SPDX-License-Identifier: Apache-2.0

package printers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"sigs.k8s.io/yaml"
)

// Format is an output format.
type Format string

// The output formats. FormatName prints one line "namespace/name cluster" for each cluster, where "@" and the API group follow the name of a
// Placement of another API than v1beta1. FormatWide is the table with all details.
const (
	FormatTable Format = "table"
	FormatJSON  Format = "json"
	FormatYAML  Format = "yaml"
	FormatName  Format = "name"
	FormatWide  Format = "wide"
)

// Formats returns the formats of every result.
func Formats() []Format { return []Format{FormatTable, FormatJSON, FormatYAML, FormatName} }

// WideFormats returns the formats of Explanations and Unsatisfied.
func WideFormats() []Format { return append(Formats(), FormatWide) }

// renderer renders one result for people, and as names.
type renderer struct {
	table, names func(out *bytes.Buffer)
}

// write renders a result in one of the formats, and writes it.
func (r renderer) write(out io.Writer, format Format, formats []Format, result any) error {
	if !slices.Contains(formats, format) {
		return fmt.Errorf("unknown format %q; use one of %v", format, formats)
	}

	var text bytes.Buffer

	switch format {
	case FormatJSON, FormatYAML:
		if err := marshal(&text, format, result); err != nil {
			return err
		}
	case FormatName:
		r.names(&text)
	default:
		r.table(&text)
	}

	if _, err := text.WriteTo(out); err != nil {
		return fmt.Errorf("printing the answer: %w", err)
	}

	return nil
}

// marshal appends a value to text as YAML for FormatYAML, and as indented JSON for any other format.
func marshal(text *bytes.Buffer, format Format, value any) error {
	if format == FormatYAML {
		encoded, err := yaml.Marshal(value)
		if err != nil {
			return fmt.Errorf("encoding the answer as YAML: %w", err)
		}

		text.Write(encoded)

		return nil
	}

	encoder := json.NewEncoder(text)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)

	if err := encoder.Encode(value); err != nil {
		return fmt.Errorf("encoding the answer as JSON: %w", err)
	}

	return nil
}
