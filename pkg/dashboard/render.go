// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"time"

	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/placement-hub/placement-hub/pkg/explain/document"
)

//go:embed templates/*.html
var templateFiles embed.FS

//go:embed assets
var assetFiles embed.FS

// templates are the parts of pages. html/template escapes every value for the place where it stands.
var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"link": link, "tone": toneClass, "verdictTone": document.VerdictTone, "cells": tableRows, "count": document.Count,
	"orNone": document.OrNone, "breakable": breakable, "percent": percent,
	"depth": depthClass, "rows": renderRows, "cellsOf": renderCells, "slice1": func(a string) []string { return []string{a} },
	"slice2": func(a, b string) []string { return []string{a, b} }, "rfc3339": func(at time.Time) string { return at.UTC().Format(time.RFC3339) },
	"minute": func(at time.Time) string { return at.UTC().Format("2006-01-02 15:04 UTC") },
	"moment": func(at time.Time) string { return at.UTC().Format(time.DateTime) },
	"clock":  func(at time.Time) string { return at.UTC().Format(time.TimeOnly) },
}).ParseFS(templateFiles, "templates/*.html"))

// assets serves the style sheet, the script and the icon. Browsers ask again after a minute, so that an upgraded hub has its own script soon.
func (s *Server) assets(w http.ResponseWriter, request *http.Request) {
	file := strings.TrimPrefix(request.URL.Path, "/")
	if info, err := fs.Stat(assetFiles, file); err != nil || info.IsDir() {
		s.pages.ServeHTTP(w, request) // There is no such page.
		return
	}
	w.Header().Set("Cache-Control", "max-age=60")
	http.ServeFileFS(w, request, assetFiles, file) //nolint:gosec // The files are embedded, and this is one of them.
}

// render renders a template. Names and messages of users cannot change the direction of the text around them.
func render(name string, data any) ([]byte, error) {
	var text strings.Builder
	if err := templates.ExecuteTemplate(&text, name, data); err != nil {
		return nil, fmt.Errorf("rendering %s: %w", name, err)
	}
	return []byte(isolate(document.Printable(text.String()))), nil
}

// renderedPart is a fragment for the layout.
type renderedPart struct {
	ID, Hash string
	HTML     template.HTML
}

// layout is the data of the whole page.
type layout struct {
	Title, Section, Namespace string
	Crumbs                    []crumb
	Caller                    string
	Login                     bool
	Parts                     []renderedPart
	Commands                  []string
	// Follows reports that the page is brought up to date while it is open.
	Follows bool
	Nav     []navigation
}

// navigation is a link to a section.
type navigation struct {
	Name, Path string
	Current    bool
}

// overviewSection is the section of the first page.
const overviewSection = "Overview"

// sections are those of the navigation.
var sections = []struct{ name, path string }{
	{overviewSection, "/"}, {placementsSection, "/placements"}, {clustersSection, "/clusters"},
	{objectsSection, "/objects"}, {requestsSection, "/requests"}, {workloadsSection, "/workloads"}, {historySection, "/" + historyPath},
}

// renderPage renders a whole page.
func (s *Server) renderPage(request *http.Request, caller user.Info, made *page) ([]byte, error) {
	namespace := request.URL.Query().Get("namespace")
	if len(namespace) > maxNameBytes { // It is none, and every link would repeat it.
		namespace = ""
	}
	data := layout{
		Title: made.Title, Section: made.Section, Crumbs: made.Crumbs, Namespace: namespace,
		Login: s.gate.loginPage(), Commands: made.Commands,
		Follows: !made.Static && made.Code == 0 && request.Method == http.MethodGet,
	}
	if caller != nil {
		data.Caller = caller.GetName()
		for _, section := range sections {
			path := section.path
			if data.Namespace != "" && path != "/clusters" {
				path += "?" + url.Values{"namespace": {data.Namespace}}.Encode()
			}
			data.Nav = append(data.Nav, navigation{Name: section.name, Path: path, Current: section.name == made.Section})
		}
	}
	var err error
	if data.Parts, err = renderParts(made); err != nil {
		return nil, err
	}
	return render("layout", data)
}

// renderParts renders the parts of a page.
func renderParts(made *page) ([]renderedPart, error) {
	parts := make([]renderedPart, 0, len(made.Fragments))
	for _, part := range made.Fragments {
		html, err := render(part.Template, part.Data)
		if err != nil {
			return nil, err
		}
		//nolint:gosec // The template has escaped it.
		parts = append(parts, renderedPart{ID: part.ID, Hash: hashOf(html), HTML: template.HTML(html)})
	}
	return parts, nil
}

// breakable returns the name of a user, which a browser breaks behind colons before it breaks words: "system:serviceaccount:team-a:viewer".
func breakable(name string) template.HTML {
	parts := strings.Split(name, ":")
	for i := range parts {
		parts[i] = template.HTMLEscapeString(parts[i])
	}
	return template.HTML(strings.Join(parts, ":<wbr>")) //nolint:gosec // Each part is escaped above.
}

// toneClass returns the class of a tone.
func toneClass(tone document.Tone) string {
	if tone == document.Plain {
		return "plain"
	}
	return string(tone)
}

// depthClass returns the class of the indentation of a line.
func depthClass(depth int) string {
	if depth > 0 {
		return "detail"
	}
	return "line"
}

// percent returns part of whole in percent, from 0 to 100.
func percent(part, whole int) int {
	if whole == 0 {
		return 0
	}
	return 100 * part / whole
}

// tableCell is a cell of a Document, with a link if it names a cluster.
type tableCell struct {
	document.Span

	Link string
	// Label is the title of the column, which a narrow screen shows beside each cell; empty for none.
	Label string
}

// tableRows returns the cells of a table of a Document.
func tableRows(table *document.Table) [][]tableCell {
	rows := make([][]tableCell, 0, len(table.Rows))
	for _, row := range table.Rows {
		cells := make([]tableCell, 0, len(row.Cells))
		for i, span := range row.Cells {
			cell := tableCell{Span: span}
			if i < len(table.Columns) {
				cell.Label = table.Columns[i]
			}
			// A Cluster of openMCP has a namespace, and no page.
			if i < len(table.Columns) && table.Columns[i] == "CLUSTER" && strings.TrimSpace(span.Text) != "" && span.Text != document.NoValue &&
				!strings.Contains(span.Text, "/") {
				cell.Link = link([]string{clustersPath, span.Text})
			}
			cells = append(cells, cell)
		}
		rows = append(rows, cells)
	}
	return rows
}

// renderRows renders the rows of a matrix, each with a line break. A template takes some 15 microseconds for a cell, and a matrix of 10,000 clusters
// has 100,000 cells. As in a template, every text is escaped; links are paths of this server, and classes are constants.
func renderRows(shown matrix) template.HTML {
	var text strings.Builder
	labels := labelsOf(shown.Columns)
	for i := range shown.Rows {
		row := &shown.Rows[i]
		text.WriteString(`<tr><th scope="row"><a href="`)
		text.WriteString(template.HTMLEscapeString(row.Link))
		text.WriteString(`"><bdi>`)
		text.WriteString(template.HTMLEscapeString(row.Cluster))
		text.WriteString(`</bdi></a></th><td data-label="Verdict"><span class="state `)
		text.WriteString(toneClass(row.Tone))
		text.WriteString(`">`)
		text.WriteString(template.HTMLEscapeString(row.Verdict))
		text.WriteString(`</span></td>`)
		writeCells(&text, row.Cells, labels)
		text.WriteString("</tr>\n")
	}
	return template.HTML(text.String()) //nolint:gosec // All of it is escaped above.
}

// labelsOf returns the attributes of cells with the titles of their columns.
func labelsOf(columns []string) []string {
	labels := make([]string, 0, len(columns))
	for _, column := range columns {
		labels = append(labels, ` data-label="`+template.HTMLEscapeString(column)+`"`)
	}
	return labels
}

// renderCells renders cells of a matrix below the titles of their columns.
func renderCells(cells []matrixCell, columns []string) template.HTML {
	var text strings.Builder
	writeCells(&text, cells, labelsOf(columns))
	return template.HTML(text.String()) //nolint:gosec // All of it is escaped by writeCell.
}

func writeCells(into *strings.Builder, cells []matrixCell, labels []string) {
	for i := range cells {
		label := ""
		if i < len(labels) {
			label = labels[i]
		}
		writeCell(into, &cells[i], label)
	}
}

func writeCell(into *strings.Builder, cell *matrixCell, label string) {
	into.WriteString(`<td class="`)
	into.WriteString(string(cell.State))
	into.WriteString(`"`)
	into.WriteString(label)
	into.WriteString(`>`)
	switch cell.State {
	case passes:
		into.WriteString(`<b aria-hidden="true">✓</b><i>passes</i>`)
	case fails:
		into.WriteString(`<b aria-hidden="true">✗</b><i>fails</i>`)
	case unasked:
	}
	if cell.Text != "" {
		into.WriteString(" ")
		if cell.Link != "" {
			into.WriteString(`<a href="` + template.HTMLEscapeString(cell.Link) + `">`)
		}
		into.WriteString(template.HTMLEscapeString(cell.Text))
		if cell.Link != "" {
			into.WriteString("</a>")
		}
	}
	if cell.Clause != "" {
		into.WriteString("<q>")
		into.WriteString(template.HTMLEscapeString(cell.Clause))
		into.WriteString("</q>")
	}
	into.WriteString("</td>")
}
