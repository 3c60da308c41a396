import * as v from 'valibot'
import { documented, member } from '../documented.ts'
import { Timestamp } from '../ids.ts'
import { RunBudget } from './budgets.ts'
import { Count } from './count.ts'
import { RUN_ID } from './example-ids.ts'
import { ShownMetadata } from './metadata.ts'
import { FinishReason, LINKS, OUTCOME, RunError, RunLinks, RunStatus, RunUsage, USAGE } from './run-outcome.ts'

export const ForkPoint = documented(
  v.object({
    runId: member(v.string(), 'Id of the original run.'),
    seq: member(Count, 'Number of the first call that was not copied, from 1.'),
  }),
  'The point in another run from which a run was forked.',
  { runId: RUN_ID, seq: 3 },
)

const MAX_PRIORITY = 100

/** Each point counts as 10 seconds of waiting. */
export const Priority = v.pipe(v.number(), v.integer(), v.minValue(-MAX_PRIORITY), v.maxValue(MAX_PRIORITY))

const run = {
  id: RUN_ID,
  kind: 'agent',
  agentId: 'support',
  sessionId: 'ses_01k5x3v8qk7m2n9b4c6d8f0g1h',
  owner: 'svc-web',
  status: 'completed',
  finishReason: 'completed',
  usage: USAGE,
  attempt: 1,
  metadata: { ticket: '17' },
  createdAt: '2026-03-02T09:15:00.000Z',
  startedAt: '2026-03-02T09:15:00.004Z',
  completedAt: '2026-03-02T09:15:02.310Z',
  links: LINKS,
} as const

export const Run = documented(
  v.object({
    id: member(v.string(), 'Id of the run, `run_…`.'),
    kind: member(v.picklist(['agent', 'workflow']), 'Whether the run executes an agent or a workflow.'),
    agentId: member(v.optional(v.string()), 'Id of the agent. Present only when `kind` is `agent`.'),
    workflowId: member(v.optional(v.string()), 'Id of the workflow. Present only when `kind` is `workflow`.'),
    threadId: member(v.optional(v.string()), 'Id of the workflow thread. Present only when `kind` is `workflow`.'),
    sessionId: member(v.optional(v.string()), 'Id of the session. Absent when the run has no session.'),
    owner: member(v.string(), 'Subject of the token that started the run.'),
    userId: member(
      v.optional(v.string()),
      'End user on whose behalf the run was started. Absent when the start request named none.',
    ),
    status: member(RunStatus, 'Current status of the run.'),
    finishReason: member(v.nullable(FinishReason), 'Why the run ended; null while it has not ended.'),
    input: member(v.unknown(), 'Input of the run, as the schema of the agent or workflow parsed it.'),
    result: member(
      v.optional(v.unknown()),
      'Value that the run returned. Present only when `status` is `completed` and the run returned a value.',
    ),
    error: member(
      v.optional(RunError),
      'Why the run failed or was aborted. Present only when the run ended with an error.',
    ),
    usage: member(RunUsage, 'Tokens, cost and tool calls that the run has used so far.'),
    attempt: member(
      Count,
      'Number of the current or last attempt, from 1. A restart after a crash or an error adds 1.',
    ),
    parentRunId: member(
      v.optional(v.string()),
      'Id of the run that started this run as its child. Absent when no run did.',
    ),
    triggerId: member(v.optional(v.string()), 'Id of the trigger that started the run. Absent when no trigger did.'),
    traceparent: member(
      v.optional(v.string()),
      'W3C trace context of the request that started the run. Absent when tracing recorded none.',
    ),
    metadata: member(ShownMetadata, 'Metadata from the start request; an empty object when the request had none.'),
    createdAt: member(Timestamp, 'When the run was accepted.'),
    startedAt: member(v.optional(Timestamp), 'When the first attempt started. Absent while the run is queued.'),
    suspendedAt: member(v.optional(Timestamp), 'When the run was last suspended. Absent when it never was.'),
    completedAt: member(v.optional(Timestamp), 'When the run ended. Absent while it has not ended.'),
    deadlineAt: member(
      v.optional(Timestamp),
      'When the `maxDuration` of the budget is used up. Absent when the run has no such limit.',
    ),
    startAt: member(
      v.optional(Timestamp),
      'Earliest start of the run or of its next attempt. Absent when the run may start at once.',
    ),
    priority: member(
      v.optional(Priority),
      'Rank among the queued runs of the same subject, from -100 to 100. Absent when it is 0.',
    ),
    budget: member(v.optional(RunBudget), 'Limits on what the run may use. Absent when it has none.'),
    abortReason: member(
      v.optional(v.string()),
      'Reason given by the caller who aborted the run. Absent when the run was not aborted or no reason was given.',
    ),
    version: member(
      v.optional(v.string()),
      'Version of the registration that executes the run. Absent when the registration has no version.',
    ),
    forkOf: member(
      v.optional(ForkPoint),
      'Run and call from which this run was forked. Absent when the run is not a fork.',
    ),
    withdrawnBy: member(
      v.optional(v.string()),
      'Id of the run that took this run out of the conversation: a later run that replaces it, the run that has taken its message, or the run itself if it was withdrawn while it waited. Absent unless one did.',
    ),
    links: member(RunLinks, 'Paths of the run and of its events.'),
  }),
  'One execution of an agent or a workflow.',
  { ...run, input: { question: 'Where is my parcel?' }, result: OUTCOME.result },
)

export const ListedRun = documented(
  v.object({
    ...Run.entries,
    input: member(v.optional(v.unknown()), 'Input of the run. Present only when the request has `include=input`.'),
    result: member(
      Run.entries.result,
      'Value that the run returned. Present only when the request has `include=result` and the run returned a value.',
    ),
  }),
  'A run in a list.',
  run,
)
