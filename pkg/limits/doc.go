// SPDX-License-Identifier: Apache-2.0

// Package limits has the limits of one Placement (docs/spec/differences.md C2a). Admission policies refuse what exceeds them, and the hub
// treats a Placement that exceeds them as misconfigured, so that the work for one Placement is bounded.
//
// Promises: an error names the field, its count, the limit and what to do, in the words of the policies in manifests/admission/limits.yaml,
// which a test compares with All. Nothing that exceeds a limit is compiled or evaluated.
package limits
