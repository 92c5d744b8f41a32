// SPDX-License-Identifier: Apache-2.0

package counterfactual

// What the tests of the printed output, in package counterfactual_test, share with the other tests.
var (
	Noon             = noon
	NewKey           = newer
	NewTestState     = testState
	ExplainPlacement = explainPlacement
)
