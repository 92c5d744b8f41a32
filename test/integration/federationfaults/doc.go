// SPDX-License-Identifier: Apache-2.0

// Package federationfaults holds the specs of federated objects on an API server that fails: hubs that are killed between two writes, requests
// and watches that fail in every way, views that are old, and works that others change meanwhile (docs/spec/federated-selector.md F35, F36).
// Every spec judges all states of the ManifestWorks that the API server has shown.
package federationfaults
