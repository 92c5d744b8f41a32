package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/placement-hub/placement-hub/pkg/controller"
	"github.com/placement-hub/placement-hub/pkg/decision/guard"
)

// percent is a flag for a whole number from 0 to 100. It is nil where nothing is said.
type percent struct {
	to **int
}

// String is the number, or nothing.
func (p percent) String() string {
	if p.to == nil || *p.to == nil {
		return ""
	}
	return strconv.Itoa(**p.to)
}

// Set reads a number, with or without a sign of per cent.
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

const maxRemovalFlag = "max-removal-percent"

// addRemovalFlags are the flags about what may leave the decisions of a placement.
func addRemovalFlags(fs *pflag.FlagSet, o *controller.Options) {
	held, warned := guard.Off, controller.DefaultWarnRemovalPercent
	o.MaxRemovalPercent, o.WarnRemovalPercent = &held, &warned
	fs.Var(percent{&o.MaxRemovalPercent}, maxRemovalFlag,
		"Share of the clusters in a Placement's decisions that may leave them within ten minutes for causes outside of the Placement; "+
			"more is held, and its condition "+guard.Condition+" says how to let it go. The annotation "+guard.PercentAnnotation+
			" of a Placement wins over it; 100 is no bound.")
	fs.Var(percent{&o.WarnRemovalPercent}, "warn-removal-percent",
		"Share of its clusters above which a Placement that loses them at once, for whatever cause, gets a Warning event; 100 is never.")
}

// hubShareUsage is for those who look at a hub that may hold removals.
const hubShareUsage = "What the hub was started with, if it holds removals. Annotations are known, and what is held already."

// addHubShareFlag is the flag for what a hub that is looked at holds.
func addHubShareFlag(fs *pflag.FlagSet, to **int) {
	fs.Var(percent{to}, maxRemovalFlag, hubShareUsage)
}
