// SPDX-License-Identifier: Apache-2.0

package hubflags

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/placement-hub/placement-hub/pkg/placement/controller"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
	"github.com/placement-hub/placement-hub/pkg/system"
)

// percent is a flag value for a whole number from 0 to 100; nil means not set.
type percent struct {
	to **int
}

// String returns the number; empty if not set.
func (p percent) String() string {
	if p.to == nil || *p.to == nil {
		return ""
	}
	return strconv.Itoa(**p.to)
}

// Set parses a number, with or without a percent sign.
func (p percent) Set(text string) error {
	number, err := strconv.Atoi(strings.TrimSuffix(text, "%"))
	if err != nil || number < 0 || number > 100 {
		return fmt.Errorf("%q is no whole number from 0 to 100", text)
	}
	*p.to = &number
	return nil
}

// Type is the word for the value in the help.
func (percent) Type() string { return "percent" }

// boolean is a flag value for true or false; nil means not set.
type boolean struct {
	to **bool
}

// String returns true or false; empty if not set.
func (b boolean) String() string {
	if b.to == nil || *b.to == nil {
		return ""
	}
	return strconv.FormatBool(**b.to)
}

// Set parses true or false.
func (b boolean) Set(text string) error {
	value, err := strconv.ParseBool(text)
	if err != nil {
		return fmt.Errorf("%q is neither true nor false", text)
	}
	*b.to = &value
	return nil
}

// Type is the word for the value in the help.
func (boolean) Type() string { return "bool" }

// RunRemovalPercent is the default percentage of the removal budget of `run`, as in deploy/base (docs/spec/differences.md G5).
const RunRemovalPercent = 50

// The flags of the removal budget.
const (
	MaxRemovalFlag    = "max-removal-percent"
	CountReplacedFlag = "max-removal-counts-replaced"
	lostScopeHoldFlag = "lost-scope-hold"
	lastClusterFlag   = "last-cluster"
)

// lastCluster is the value of --last-cluster.
type lastCluster struct{ to **removalbudget.LastCluster }

// String returns the value; empty when it is not set.
func (l lastCluster) String() string {
	if l.to == nil || *l.to == nil {
		return ""
	}
	return string(**l.to)
}

// Set sets one of the values of removalbudget.LastCluster.
func (l lastCluster) Set(text string) error {
	value := removalbudget.LastCluster(text)
	if value != removalbudget.KeepLastCluster && value != removalbudget.UpstreamLastCluster {
		return fmt.Errorf("%q is neither %s nor %s", text, removalbudget.KeepLastCluster, removalbudget.UpstreamLastCluster)
	}
	*l.to = &value
	return nil
}

// Type is the word for the value in the help.
func (lastCluster) Type() string { return "keep|upstream" }

// addLastClusterFlag adds the flag for the last cluster with its default.
func addLastClusterFlag(fs *pflag.FlagSet, to *removalbudget.Limit, usage string) {
	keep := removalbudget.KeepLastCluster
	to.LastCluster = &keep
	fs.Var(lastCluster{&to.LastCluster}, lastClusterFlag, usage)
}

// AddRemovalFlags adds the flags of the removal budget of the controllers, of which held is the default percentage.
func AddRemovalFlags(fs *pflag.FlagSet, o *system.Options, held int) {
	warned, replaced := controller.DefaultWarnRemovalPercent, false
	o.RemovalLimit, o.WarnRemovalPercent = removalbudget.Limit{Percent: &held, CountReplaced: &replaced}, &warned
	fs.Var(percent{&o.RemovalLimit.Percent}, MaxRemovalFlag,
		"Removal budget: the percentage of the clusters in a Placement's decisions that may leave within ten minutes for causes outside "+
			"of the Placement. The hub blocks the removal of more; the condition "+removalbudget.Condition+" describes how to release it. "+
			"The annotation "+removalbudget.PercentAnnotation+" of a Placement overrides the flag; 100 is no limit.")
	fs.Var(boolean{&o.RemovalLimit.CountReplaced}, CountReplacedFlag,
		"Whether replaced clusters also count for --"+MaxRemovalFlag+". The annotation "+removalbudget.CountReplacedAnnotation+
			" of a Placement overrides the flag.")
	fs.Lookup(CountReplacedFlag).NoOptDefVal = "true"
	hold := removalbudget.DefaultLostScopeHold
	o.RemovalLimit.LostScopeHold = &hold
	fs.DurationVar(&hold, lostScopeHoldFlag, hold, "How long --"+MaxRemovalFlag+" holds the removal of clusters at most "+
		"that are not in the cluster sets that are bound to the namespace any more. Annotations neither release nor prolong it.")
	addLastClusterFlag(fs, &o.RemovalLimit, "What happens to the last cluster in the decisions of a Placement, or of a federated object, where --"+
		MaxRemovalFlag+" is below 100 and no other cluster replaces it: keep keeps it while it is only unreachable or unavailable, and for --"+
		lostScopeHoldFlag+" when it has left the scope; upstream lets it go at once.")
	fs.Var(percent{&o.WarnRemovalPercent}, "warn-removal-percent",
		"Percentage of the clusters of a Placement. If more leave in one evaluation, for any cause, the hub sends a Warning event; 100 is never.")
}

// HubLimitUsage is the usage of these flags for commands that read a hub.
const HubLimitUsage = "The value of this flag that the hub was started with. Default: the value in the status of each Placement."

// addHubLimitFlags adds the flags for the removal budget of a hub that is read.
func addHubLimitFlags(fs *pflag.FlagSet, to *removalbudget.Limit) {
	fs.Var(percent{&to.Percent}, MaxRemovalFlag, HubLimitUsage)
	fs.Var(boolean{&to.CountReplaced}, CountReplacedFlag, HubLimitUsage)
	fs.Lookup(CountReplacedFlag).NoOptDefVal = "true"
	addHubHoldFlags(fs, to)
}

// addHubHoldFlags adds the flags for how long the removal budget of a hub that is read holds lost scope and the last cluster. No status has them.
func addHubHoldFlags(fs *pflag.FlagSet, to *removalbudget.Limit) {
	hold := removalbudget.DefaultLostScopeHold
	to.LostScopeHold = &hold
	fs.DurationVar(&hold, lostScopeHoldFlag, hold, "The value of this flag that the hub was started with.")
	addLastClusterFlag(fs, to, "The value of this flag that the hub was started with.")
}

// AddHubBudgetFlags adds the flags for the removal budget of a hub of which delivered objects are read.
func AddHubBudgetFlags(fs *pflag.FlagSet, to *removalbudget.Limit) {
	fs.Var(percent{&to.Percent}, MaxRemovalFlag, "The value of this flag that the hub was started with. Default: not known.")
	addHubHoldFlags(fs, to)
}
