import * as v from 'valibot'
import type { CommandGroup } from './command-spec.ts'

const Interval = v.object({ low: v.number(), high: v.number() })

const Rate = { passed: v.number(), trials: v.number(), rate: v.optional(v.number()), interval: Interval }

const Usage = v.object({ inputTokens: v.number(), outputTokens: v.number(), costUsd: v.number() })

const Proportion = v.object({ passed: v.number(), trials: v.number() })

const Compared = {
  name: v.string(),
  before: Proportion,
  after: Proportion,
  verdict: v.picklist(['better', 'worse', 'same']),
  p: v.number(),
  test: v.picklist(['fisher', 'z']),
}

const EvalResult = v.object({
  ...{ name: v.string(), ok: v.boolean(), problems: v.array(v.string()), ...Rate },
  scorerErrors: v.array(v.string()),
  scorers: v.array(v.object({ name: v.string(), ...Rate })),
  cases: v.array(
    v.object({
      ...{ id: v.string(), status: v.picklist(['passed', 'failed', 'flaky']), ...Rate },
      reason: v.optional(v.string()),
    }),
  ),
  usage: Usage,
  slowestMs: v.number(),
})

const Report = v.object({
  ...{ ok: v.boolean(), results: v.string(), planned: v.number(), made: v.number(), reused: v.number() },
  outdated: v.number(),
  stoppedBy: v.nullable(v.picklist(['runs', 'costUsd', 'durationMs', 'signal'])),
  evals: v.array(EvalResult),
  compared: v.array(
    v.object({ ...Compared, scorers: v.array(v.object(Compared)), cases: v.array(v.object(Compared)) }),
  ),
  uncompared: v.array(v.string()),
  invalid: v.array(v.object({ eval: v.string(), problem: v.string() })),
})

const Replayed = v.object({
  ok: v.boolean(),
  replayed: v.number(),
  causes: v.array(v.object({ cause: v.string(), runs: v.number(), ...Usage.entries })),
  differences: v.array(
    v.object({
      ...{ runId: v.string(), kind: v.string(), targetId: v.string(), status: v.string(), cause: v.string() },
      ...{ detail: v.optional(v.string()), seq: v.optional(v.number()) },
    }),
  ),
})

export const evalCommands: CommandGroup = {
  commands: [
    {
      path: 'eval',
      summary: 'run the evals in *.eval.ts files; exits 5 if a threshold is not met or a result is worse',
      target: 'storage',
      arguments: [
        {
          name: 'pattern',
          note: 'run only evals whose file or name contains this; --out keeps the results of the others',
          optional: true,
        },
      ],
      flags: [
        {
          name: 'out',
          type: 'string',
          value: 'file',
          note: 'store the results here; in <file>.part until all trials are done',
          default: 'eval-results.ndjson',
        },
        {
          name: 'against',
          type: 'string',
          value: 'results',
          note: 'compare with this results file, or with the --out file at this git revision',
        },
        { name: 'junit', type: 'string', value: 'file', note: 'also write a JUnit report' },
        {
          name: 'concurrency',
          type: 'integer',
          value: 'count',
          note: 'run this many trials at once',
          default: 16,
          range: [1, 256],
        },
        { name: 'max-runs', type: 'integer', value: 'count', note: 'stop after this many trials; exits 3' },
        {
          name: 'max-cost',
          type: 'string',
          value: 'usd',
          note: 'start no more trials once this much is spent; exits 3',
        },
        {
          name: 'max-duration',
          type: 'duration',
          value: 'duration',
          note: 'start no more trials after this time; exits 3',
        },
        {
          name: 'replay',
          type: 'pairs',
          value: 'since=7d',
          note: 'replay recorded runs against the configuration on disk instead of running evals, and list the differences; filters: since, agent, workflow',
        },
        { name: 'resume', type: 'boolean', note: 'continue an interrupted eval run with its missing trials' },
        { name: 'restart', type: 'boolean', note: 'discard the results of an interrupted eval run, and start again' },
      ],
      examples: ['perdure eval --replay since=7d', 'perdure eval --against main --junit eval.xml --max-cost 2'],
      exits: ['problem', 'unreachable', 'conflict'],
      output: 'document',
      schema: v.union([Report, Replayed]),
      load: async () => (await import('../commands/eval-command.ts')).evalCommand,
    },
  ],
}
