// SPDX-License-Identifier: Apache-2.0

package printers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"sigs.k8s.io/yaml"

	"github.com/placement-hub/placement-hub/pkg/explain/document"
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

// Formats returns the formats without FormatWide, which some commands have as the name of options.
func Formats() []Format { return []Format{FormatTable, FormatJSON, FormatYAML, FormatName} }

// WideFormats returns all formats.
func WideFormats() []Format { return append(Formats(), FormatWide) }

// Print prints a result in one of the formats.
func Print(out io.Writer, format Format, result document.Source, style Style) error {
	if !slices.Contains(WideFormats(), format) {
		return fmt.Errorf("unknown format %q; use one of %v", format, WideFormats())
	}
	var text bytes.Buffer

	switch format {
	case FormatJSON, FormatYAML:
		if err := marshal(&text, format, result); err != nil {
			return err
		}
	case FormatName:
		for _, name := range result.Document(style.Options).Names {
			text.WriteString(name + "\n")
		}
	default:
		style.write(&text, result.Document(style.Options))
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
