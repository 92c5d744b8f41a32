package samples

import (
	"embed"
	"io/fs"
)

//go:embed *.yaml
var files embed.FS

// Files returns the YAML files of the sample world, all in the root directory. Their lexical order, which is that of
// fs.ReadDir, is the order to apply them in.
func Files() fs.FS { return files }
