// SPDX-License-Identifier: Apache-2.0

// Package runbooks renders the runbooks of docs/runbooks for the dashboard: headings, paragraphs, numbered lists, tables, links and code are all that
// these pages have. A link to another runbook leads to its page, and a link to other documentation to the repository.
//
// A library such as goldmark would need renderers of its own for the tables, code and links of the dashboard, which are most of this package. A test
// fails for a page with a construct that is not rendered.
//
// The pages are rendered once, need no cluster, and are for everybody: they are read when the hub, or its API server, does not answer.
package runbooks
