// SPDX-License-Identifier: Apache-2.0

// Command helmchart writes the parts of the Helm chart of the hub that follow from other files: the templates of the manifests, of the Services
// and of what Prometheus needs, and, from values.schema.json, values.yaml and the table in README.md. go generate runs it in package manifests.
//
// helmify (v0.4.5) makes a chart of manifests too. It names each object after the release, while roles, admission policies and users name the objects
// of a hub, and it has no condition that leaves the objects of a system out.
package main
