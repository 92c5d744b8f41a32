// SPDX-License-Identifier: Apache-2.0

// Package runbooks has the runbooks, so that the dashboard serves them where the repository cannot be reached.
package runbooks

import "embed"

// Files are the pages, in Markdown.
//
//go:embed *.md
var Files embed.FS
