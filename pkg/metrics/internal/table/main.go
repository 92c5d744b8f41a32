// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/placement-hub/placement-hub/pkg/metrics"
)

const (
	begin = "<!-- begin of the table that make generate writes -->\n"
	end   = "<!-- end of the table -->\n"
)

func main() {
	in := flag.String("in", "", "document to write the table into")
	flag.Parse()
	if err := run(*in); err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(1)
	}
}

func run(path string) error {
	document, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("reading the document: %w", err)
	}
	written, err := replace(document, table(metrics.All()))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}

	if bytes.Equal(written, document) {
		return nil
	}
	if err := os.WriteFile(path, written, 0o644); err != nil { //nolint:gosec // Readable like its neighbours.
		return fmt.Errorf("writing the document: %w", err)
	}
	return nil
}

// replace replaces the text between the markers by the table. It returns an error if a marker is missing.
func replace(document []byte, table string) ([]byte, error) {
	before, rest, found := bytes.Cut(document, []byte(begin))
	_, after, ended := bytes.Cut(rest, []byte(end))
	if !found || !ended {
		return nil, errors.New("the markers of the table are missing; put " + strings.TrimSpace(begin) + " and " + strings.TrimSpace(end) +
			" on lines of their own where it is to be")
	}
	return bytes.Join([][]byte{before, []byte(begin + "\n" + table + "\n" + end), after}, nil), nil
}

// table returns a Markdown table with a row for each series.
func table(all []metrics.Series) string {
	var text strings.Builder
	text.WriteString("| series | type | labels | meaning |\n| --- | --- | --- | --- |\n")
	for _, s := range all {
		labels := make([]string, 0, len(s.Labels))
		for _, label := range s.Labels {
			labels = append(labels, "`"+label+"`")
		}
		fmt.Fprintf(&text, "| `%s` | %s | %s | %s |\n", s.Name, s.Type, strings.Join(labels, ", "), strings.ReplaceAll(s.Help, "|", "\\|"))
	}
	return text.String()
}
