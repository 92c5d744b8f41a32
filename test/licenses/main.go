// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	err := run(os.Args[1:], os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "licenses:", err)
		os.Exit(1)
	}
}

func run(arguments []string, stderr io.Writer) error {
	flags := flag.NewFlagSet("licenses", flag.ContinueOnError)
	flags.SetOutput(stderr)
	root := flags.String("root", ".", "the `directory` of the repository")
	list := flags.String("list", "", "write the table of modules and licenses to this `file`")
	texts := flags.String("texts", "", "write the texts of licenses and notices to this `file`")
	headers := flags.Bool("headers", false, "add the SPDX line to Go files without one")
	if err := flags.Parse(arguments); err != nil {
		return fmt.Errorf("flags: %w", err)
	}
	if *headers {
		if err := addHeaders(*root); err != nil {
			return err
		}
	}
	if *list == "" && *texts == "" {
		return nil
	}
	repository := os.DirFS(*root)
	modules, err := vendored(repository)
	if err != nil {
		return err
	}
	if *list != "" {
		works, err := copiedWorks(repository, copies)
		if err != nil {
			return err
		}
		if err := os.WriteFile(*list, table(modules, works), 0o644); err != nil {
			return fmt.Errorf("writing the table: %w", err)
		}
	}
	if *texts == "" {
		return nil
	}
	all, err := allTexts(repository, modules)
	if err != nil {
		return err
	}
	if err := os.WriteFile(*texts, all, 0o644); err != nil {
		return fmt.Errorf("writing the texts of licenses: %w", err)
	}
	return nil
}

// table returns the page with the modules and the copied works, and their licenses.
func table(modules, works []module) []byte {
	page := []byte("# Third-party modules\n\n" +
		"<!-- Written by `make generate` (test/licenses). -->\n\n" +
		"placement-hub is built and tested with these modules, which are in `vendor/`, and with the standard library of Go (BSD-3-Clause). " +
		"A release\nand the image have the texts of all licenses and notices in `third-party-licenses.txt`. A license that is not " +
		"recognised fails\n" +
		"`make test`.\n\n" +
		"| module | version | license |\n|---|---|---|\n")
	for _, m := range modules {
		page = fmt.Appendf(page, "| `%s` | %s | %s |\n", m.path, m.version, strings.Join(m.licenses, ", "))
	}
	page = append(page, "\n## Works that tests use\n\n"+
		"The repository has these files of others besides. No binary and no image has them; their licenses stand beside them.\n\n"+
		"| directory | version | license |\n|---|---|---|\n"...)
	for _, w := range works {
		page = fmt.Appendf(page, "| `%s` | %s | %s |\n", w.path, w.version, strings.Join(w.licenses, ", "))
	}
	return page
}

// goLicense is a copy of the license of the Go project, which the standard library has too.
const goLicense = "vendor/golang.org/x/sys/LICENSE"

// allTexts returns the license of the standard library and all texts of the modules.
func allTexts(repository fs.FS, modules []module) ([]byte, error) {
	standard, err := fs.ReadFile(repository, goLicense)
	if err != nil {
		return nil, fmt.Errorf("reading the license of Go: %w", err)
	}
	var all bytes.Buffer
	write := func(title string, text []byte) {
		fmt.Fprintf(&all, "%s\n%s\n%s\n\n%s\n\n", strings.Repeat("=", 80), title, strings.Repeat("=", 80), bytes.TrimSpace(text))
	}
	write("The standard library of Go", standard)
	for _, m := range modules {
		for _, file := range m.texts {
			text, err := fs.ReadFile(repository, file)
			if err != nil {
				return nil, fmt.Errorf("reading a license: %w", err)
			}
			write(fmt.Sprintf("%s %s: %s", m.path, m.version, filepath.ToSlash(strings.TrimPrefix(file, "vendor/"+m.path+"/"))), text)
		}
	}
	return all.Bytes(), nil
}
