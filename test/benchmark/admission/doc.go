// SPDX-License-Identifier: Apache-2.0

// Package admission is what the scenario admission of the benchmark measures with: namespaces with pod scheduling policies, workloads that
// some of the policies match, and the configuration of a webhook that allows everything. It sends nothing itself.
package admission
