// SPDX-License-Identifier: Apache-2.0

// Command helmchart writes the parts of the Helm chart of the hub that follow from other files: the templates of the manifests, of the Services
// and of what Prometheus needs, and, from values.schema.json, values.yaml and the table in README.md. go generate runs it in package manifests.
package main
