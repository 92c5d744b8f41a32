// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/logging"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/stopping"
)

// usageError is an error in the command line or in a file that it names, found after the flags were parsed.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// exitError ends the process with a code. Without an error there is nothing to report.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// newRootCommand builds the command tree. started is set as soon as a subcommand begins to run: any error before is one of usage. stop
// cancels the context of the subcommand.
func newRootCommand(started *bool, stop context.CancelFunc) *cobra.Command {
	root := &cobra.Command{
		Use:   programName,
		Short: "Select the clusters that a workload runs on",
		Long: "placement selects ManagedClusters for Placements and writes PlacementDecisions.\n" +
			"It replaces the placement controller of Open Cluster Management.\n\n" + describeExitCodes(),
		Args:          noSubcommand,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRun: func(cmd *cobra.Command, _ []string) {
			*started = true
			log := stopping.Logger(cmd.Context(), logging.Quiet(klog.NewKlogr()))
			ctrllog.SetLogger(log)
			cmd.SetContext(klog.NewContext(cmd.Context(), log)) // client-go logs with the logger of the context of a request.
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(suggestFlag)
	root.SetGlobalNormalizationFunc(cliflag.WordSepNormalizeFunc)
	root.AddCommand(newControllerCommand(stop), newRunCommand(), newExplainCommand(), newSetsCommand(), newFederatedCommand(), newHistoryCommand(),
		newSimulateCommand(), newTestCommand(), newDiffCommand(), newSnapshotCommand(), newDashboardCommand(), newDebugCommand(stop),
		newProviderCommand(), newManifestsCommand(),
		newUninstallCommand(),
		newVersionCommand())
	return root
}

// execute runs the command line and returns the exit code of the process.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return executeAs(ctx, programName, args, stdout, stderr)
}

// imagePath is where the binary is in our image, as in upstream's.
const imagePath = "/" + programName

// withoutOwnPath drops a first argument that is the path of the program itself. Upstream's image has no entrypoint, so its manifests begin
// their args with "/placement", which the entrypoint of our image is already.
func withoutOwnPath(name string, args []string) []string {
	if isPlugin(name) || len(args) == 0 || (args[0] != imagePath && args[0] != name) {
		return args
	}
	return args[1:]
}

// executeAs runs the command line of a process that was started by name.
func executeAs(ctx context.Context, name string, args []string, stdout, stderr io.Writer) int {
	defer klog.Flush()
	var started bool
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	root := newRootCommand(&started, stop)
	args = asPlugin(root, name, withoutOwnPath(name, args))
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)

	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	code := exitFailure
	var usage *usageError
	if exit, coded := errors.AsType[*exitError](err); coded {
		if code = exit.code; exit.err == nil {
			return code
		}
	}
	hint := hintTimeout(cmd, err)
	if !started || errors.As(err, &usage) {
		code, hint = exitUsage, fmt.Sprintf("Run '%s --help' for usage.\n", cmd.CommandPath())
	}
	if _, writeErr := fmt.Fprintf(stderr, "Error: %v\n%s", err, hint); writeErr != nil {
		klog.ErrorS(errors.Join(err, writeErr), "Cannot report the error on stderr")
	}
	return code
}
