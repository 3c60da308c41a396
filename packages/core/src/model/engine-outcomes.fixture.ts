import { type ApprovalRecord, fromJsonText, type RunRecord } from '@perdure/ports'
import { expect } from 'vitest'
import type { World } from './engine-history.fixture.ts'
import { CHILD_FAILED, CRASHED, EMIT_KEYS, type Op, type Program, payloadOf, THROWN } from './engine-program.fixture.ts'
import { AGENTS, type Input, OPTIONS } from './engine-world.fixture.ts'

/** All runs and approvals of a world. */
export interface Known {
  readonly runs: readonly RunRecord[]
  readonly approvals: readonly ApprovalRecord[]
}

/** A run has the result of an uninterrupted execution, or an end that its history explains. */
export function expectOutcome(world: World, run: RunRecord, known: Known): void {
  const { program } = fromJsonText(run.input) as Input
  const { id, targetId, status, finishReason, error } = run
  const detail = `${id} ${targetId} ${status} ${finishReason} ${JSON.stringify(error)}`
  if (status === 'failed') expect(possibleErrors(world, run, program), detail).toContain(error?.code)
  if (status === 'aborted') expect(possibleReasons(world, run), detail).toContain(finishReason)
  if (status !== 'completed') return
  const values = run.result === undefined ? [] : (fromJsonText(run.result) as unknown[])
  expect(isThrowing(program.parts.flat()), detail).toBe(false)
  expect(resultProblem({ world, run, known }, program, values), detail).toBeUndefined()
}

const isResumed = ({ targetId }: RunRecord) =>
  (OPTIONS[targetId]?.recovery ?? (targetId in AGENTS ? 'fail' : 'resume')) === 'resume'

const possibleErrors = ({ restarts }: World, run: RunRecord, { parts }: Program): readonly string[] => [
  ...(isThrowing(parts.flat()) ? [THROWN] : []),
  ...(restarts > 0 && !isResumed(run) ? ['run-interrupted'] : []),
  ...(run.deadlineAt === undefined ? [] : ['budget-exhausted']),
  ...(restarts >= (OPTIONS[run.targetId]?.maxAttempts ?? 3) ? ['attempts-exhausted'] : []),
]

function possibleReasons({ aborted, restarts }: World, run: RunRecord): readonly string[] {
  const { onBusy, timeoutMs } = OPTIONS[run.targetId] ?? {}
  const isAborted = aborted.has(run.id) || run.parentRunId !== undefined || onBusy === 'interrupt'
  return [
    ...(isAborted ? ['aborted'] : []),
    ...(timeoutMs === undefined ? [] : ['timeout']),
    ...(restarts > 0 && !isResumed(run) ? ['shutdown'] : []),
  ]
}

const isThrowing = (ops: readonly Op[]) => ops.some(({ op }) => op === 'throw')

interface Context {
  readonly world: World
  readonly run: RunRecord
  readonly known: Known
}

/** The problem with the result of a program; `undefined` if the result is possible. */
function resultProblem(context: Context, program: Program, values: readonly unknown[]): string | undefined {
  for (const [part, ops] of program.parts.entries()) {
    const decided =
      part === 0 ? [] : wrongDecisions(context, part - 1, program.approvals[part - 1] ?? 0, values[part * 2])
    const problem = problemOf(context, { ops, values: values[part * 2 + 1], path: `${part}` })
    if (decided !== undefined && decided.length > 0) return `${decided}`
    if (problem !== undefined) return problem
  }
  return values.length === program.parts.length * 2 ? undefined : 'too many values'
}

/**
 * Differences between the decisions that a resumed part received and the stored decisions. A pending approval counts as
 * denied.
 */
function wrongDecisions({ world, run, known }: Context, part: number, count: number, values: unknown): string[] {
  const expected = Array.from({ length: count }, (_, index) => `own:${part}.${index}`).map((name) => {
    const approval = known.approvals.find((one) => one.runId === run.id && one.name === name)
    return [name, approval?.status === 'granted'] as const
  })
  const given = values as (readonly [string, boolean])[]
  return expected.flatMap(([name, granted], index) => {
    const [givenName, givenGranted] = given[index] ?? []
    const wasPending = world.resumed.has(run.id) && givenGranted === false
    return givenName === name && (givenGranted === granted || wasPending) ? [] : [`${name} was ${givenGranted}`]
  })
}

interface Branch {
  readonly ops: readonly Op[]
  readonly values: unknown
  readonly path: string
}

function problemOf(context: Context, { ops, values, path }: Branch): string | undefined {
  if (isThrowing(ops)) return values === THROWN ? undefined : `${path} did not throw`
  if (!Array.isArray(values) || values.length !== ops.length) return `${path} returned ${JSON.stringify(values)}`
  for (const [index, op] of ops.entries()) {
    const problem = problemOfOne(context, op, { value: values[index], path: `${path}.${index}` })
    if (problem !== undefined) return problem
  }
  return undefined
}

function problemOfOne(
  context: Context,
  op: Op,
  { value, path }: { readonly value: unknown; readonly path: string },
): string | undefined {
  if (op.op === 'both') {
    const [left, right] = value as unknown[]
    const first = problemOf(context, { ops: op.left, values: left, path: `${path}.l` })
    return first ?? problemOf(context, { ops: op.right, values: right, path: `${path}.r` })
  }
  return possible(context, op, path).includes(JSON.stringify(value))
    ? undefined
    : `${op.op} at ${path} returned ${JSON.stringify(value)}`
}

/** The possible results of a call, as JSON. */
function possible({ world, run, known }: Context, op: Op, path: string): string[] {
  switch (op.op) {
    case 'step':
      return [path, ...(op.onCrash !== 'retry' && world.restarts > 0 ? [CRASHED] : [])].map((value) =>
        JSON.stringify(value),
      )
    case 'event':
      return [
        ...[undefined, ...EMIT_KEYS].map((key) => JSON.stringify(payloadOf(op.name, key))),
        ...(op.timeoutMs === undefined ? [] : ['null']),
      ]
    case 'approval':
      return [
        String(
          known.approvals.find(({ runId, name }) => runId === run.id && name === `ask-${path}`)?.status === 'granted',
        ),
      ]
    case 'child':
      return known.runs.filter((child) => child.parentRunId === run.id && pathOf(child) === path).map(outcomeOfChild)
    default:
      return [JSON.stringify(PLAIN[op.op])]
  }
}

const PLAIN = { sleep: 'slept', race: 'raced', emit: 'emitted', microtasks: 'continued', both: 'never', throw: 'never' }

const pathOf = ({ input }: RunRecord) => (fromJsonText(input) as Input).path
const outcomeOfChild = ({ status, result }: RunRecord) =>
  status === 'completed' ? `${result}` : JSON.stringify(CHILD_FAILED)
