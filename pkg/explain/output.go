package explain

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"sigs.k8s.io/yaml"
)

// Format is an output format.
type Format string

// The output formats. FormatName prints "namespace/name cluster" for every cluster of every Placement, best first; "@" and the API group
// follow the name of a Placement of another API than v1beta1.
const (
	FormatTable Format = "table"
	FormatJSON  Format = "json"
	FormatYAML  Format = "yaml"
	FormatName  Format = "name"
)

// Formats returns all formats.
func Formats() []Format { return []Format{FormatTable, FormatJSON, FormatYAML, FormatName} }

// Write prints the reports. An unknown format is an error, and nothing is printed then.
func Write(out io.Writer, format Format, reports Reports) error {
	var text bytes.Buffer

	if err := encode(&text, format, reports); err != nil {
		return err
	}

	if _, err := text.WriteTo(out); err != nil {
		return fmt.Errorf("printing the reports: %w", err)
	}

	return nil
}

func encode(text *bytes.Buffer, format Format, reports Reports) error {
	switch format {
	case FormatTable:
		tables(text, reports.Placements)
	case FormatJSON, FormatYAML:
		return Marshal(text, format, reports)
	case FormatName:
		for _, report := range reports.Placements {
			for _, cluster := range report.Selected {
				fmt.Fprintf(text, "%s %s\n", qualifiedName(report.Placement, report.API), cluster)
			}
		}
	default:
		return fmt.Errorf("unknown format %q; use one of %v", format, Formats())
	}

	return nil
}

// Marshal appends a value to text as YAML for FormatYAML, and as indented JSON for any other format.
func Marshal(text *bytes.Buffer, format Format, value any) error {
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

func tables(text *bytes.Buffer, reports []Report) {
	for i, report := range reports {
		if i > 0 {
			text.WriteByte('\n')
		}

		report.Table(text, Style{All: "--all"})
	}
}
