// SPDX-License-Identifier: Apache-2.0

// Package works records every state of the ManifestWorks of federated objects, in the order in which an API server shows them to work
// agents, and reports violations of the rules of safe delivery (docs/spec/federated-selector.md 3.1.4, F35 and F41; docs/architecture.md
// law 5).
//
// A History has all events of one watch without gaps, by the UIDs of the works. The rules judge the Passage from one settled state to the
// next, because only then it is known which clusters keep an object. Findings are sentences, so that any test framework can report them.
package works
