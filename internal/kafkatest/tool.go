package kafkatest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// Kafka's command-line tools, as classes of Kafka 4.
const (
	AclCommand                = "org.apache.kafka.tools.AclCommand"
	TopicCommand              = "org.apache.kafka.tools.TopicCommand"
	ConfigCommand             = "org.apache.kafka.tools.ConfigCommand"
	FeatureCommand            = "org.apache.kafka.tools.FeatureCommand"
	TransactionsCommand       = "org.apache.kafka.tools.TransactionsCommand"
	ConsumerGroupCommand      = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
	GetOffsetShell            = "org.apache.kafka.tools.GetOffsetShell"
	LeaderElectionCommand     = "org.apache.kafka.tools.LeaderElectionCommand"
	LogDirsCommand            = "org.apache.kafka.tools.LogDirsCommand"
	MetadataQuorumCommand     = "org.apache.kafka.tools.MetadataQuorumCommand"
	ReassignPartitionsCommand = "org.apache.kafka.tools.reassign.ReassignPartitionsCommand"
	DumpLogSegments           = "org.apache.kafka.tools.DumpLogSegments"
)

// Tool runs one of Kafka's own tools. A tool that ran and exited with another
// status than 0 is no error; one that could not run, or did not end before
// ctx or within eight minutes, is.
func (c *Cluster) Tool(ctx context.Context, class string, args ...string) (stdout, stderr string, exit int, err error) {
	ctx, cancel := context.WithTimeout(ctx, programTimeout)
	defer cancel()
	cmd := c.ToolCommand(ctx, class, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	var status *exec.ExitError
	if errors.As(err, &status) && ctx.Err() == nil {
		return out.String(), errs.String(), status.ExitCode(), nil
	}
	if err != nil {
		err = fmt.Errorf("kafkatest: %s %s: %w\n%s", class, strings.Join(args, " "), errors.Join(err, ctx.Err()), errs.String())
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode(), err
}

// ToolCommand returns the command that Tool runs, for a caller who wants to
// time it or to feed it.
func (c *Cluster) ToolCommand(ctx context.Context, class string, args ...string) *exec.Cmd {
	return c.jvm.tool(ctx, class, args...)
}
