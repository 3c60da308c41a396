import { type ApprovalRecord, fromJsonText, type RunRecord } from '@perdure/ports'
import { expect } from 'vitest'
import { allOps, type Code, callsOf, type Placed } from './engine-code.fixture.ts'
import type { World } from './engine-history.fixture.ts'
import type { Op } from './engine-op.fixture.ts'
import {
  CHILD_FAILED,
  CRASHED,
  EMIT_KEYS,
  FINAL,
  type Program,
  payloadOf,
  REPLACED,
  STUMBLED,
  THROWN,
} from './engine-program.fixture.ts'
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
  const lineage = lineageOf(run, known.runs)
  expect(resultProblem({ world, lineage, known }, program, values), detail).toBeUndefined()
}

const isResumed = ({ targetId }: RunRecord) =>
  (OPTIONS[targetId]?.onCrash ?? (targetId in AGENTS ? 'fail' : 'retry')) === 'retry'

const possibleErrors = ({ restarts, wasDown }: World, run: RunRecord, { parts }: Program): readonly string[] => [
  ...(isThrowing(parts.flat()) ? [THROWN] : []),
  ...parts.flat().flatMap((op) => (op.op === 'stumble' ? [op.isFinal ? FINAL : STUMBLED] : [])),
  ...(wasDown && allOps(parts.flat()).some(({ op }) => op === 'request') ? ['step-failed'] : []),
  ...(restarts > 0 && !isResumed(run) ? ['run-interrupted'] : []),
  ...(run.deadlineAt === undefined ? [] : ['budget-exhausted']),
  ...(restarts >= (OPTIONS[run.targetId]?.recoveries ?? 2) ? ['attempts-exhausted'] : []),
]

function possibleReasons({ aborted, restarts }: World, run: RunRecord): readonly string[] {
  const { onBusy, timeout } = OPTIONS[run.targetId] ?? {}
  const isAborted = aborted.has(run.id) || run.parentRunId !== undefined || onBusy === 'interrupt'
  return [
    ...(isAborted ? ['aborted'] : []),
    ...(timeout === undefined ? [] : ['timeout']),
    ...(restarts > 0 && !isResumed(run) ? ['shutdown'] : []),
  ]
}

const isThrowing = (ops: readonly Op[]) => ops.some(({ op }) => op === 'throw')

interface Context {
  readonly world: World
  /** The run, the run of which it is a fork, and so on. */
  readonly lineage: readonly RunRecord[]
  readonly known: Known
}

export function lineageOf(run: RunRecord, runs: readonly RunRecord[]): readonly RunRecord[] {
  const source = runs.find(({ id }) => id === run.forkOf?.runId)
  return [run, ...(source === undefined ? [] : lineageOf(source, runs))]
}

/** The problem with the result of a program; `undefined` if the result is possible. */
function resultProblem(context: Context, program: Program, values: readonly unknown[]): string | undefined {
  for (const [part, ops] of program.parts.entries()) {
    const decided =
      part === 0 ? [] : wrongDecisions(context, part - 1, program.approvals[part - 1] ?? 0, values[part * 2])
    const own = values[part * 2 + 1] as { readonly code: Code; readonly values: unknown } | undefined
    const calls = own === undefined ? [] : callsOf(own.code, ops, `${part}`)
    const problem = problemOf(context, { calls, values: own?.values, path: `${part}` })
    if (decided !== undefined && decided.length > 0) return `${decided}`
    if (problem !== undefined) return problem
  }
  return values.length === program.parts.length * 2 ? undefined : 'too many values'
}

/**
 * Differences between the decisions that a resumed part received and the stored decisions. A pending approval counts as
 * denied.
 */
function wrongDecisions({ world, lineage, known }: Context, part: number, count: number, values: unknown): string[] {
  const expected = Array.from({ length: count }, (_, index) => `own:${part}.${index}`).map((name) => {
    return [name, approvalIn(lineage, known, name)?.status === 'approved'] as const
  })
  const given = values as (readonly [string, boolean])[]
  return expected.flatMap(([name, approved], index) => {
    const [givenName, givenApproved] = given[index] ?? []
    const wasPending = lineage.some(({ id }) => world.resumed.has(id)) && givenApproved === false
    return givenName === name && (givenApproved === approved || wasPending) ? [] : [`${name} was ${givenApproved}`]
  })
}

/** The approval that the run asked for under this name or, if it is a copy, the run from which it is copied. */
function approvalIn(lineage: readonly RunRecord[], { approvals }: Known, name: string): ApprovalRecord | undefined {
  for (const { id } of lineage) {
    const own = approvals.find((approval) => approval.runId === id && approval.name === name)
    if (own !== undefined) return own
  }
  return undefined
}

interface Branch {
  readonly calls: readonly Placed[]
  readonly values: unknown
  readonly path: string
}

const branch = (ops: readonly Op[], values: unknown, path: string): Branch => ({
  calls: ops.map((op, index) => ({ op, path: `${path}.${index}` })),
  ...{ values, path },
})

function problemOf(context: Context, { calls, values, path: whole }: Branch): string | undefined {
  if (isThrowing(calls.map(({ op }) => op))) return values === THROWN ? undefined : `${whole} did not throw`
  if (!Array.isArray(values) || values.length !== calls.length) return `${whole} returned ${JSON.stringify(values)}`
  for (const [index, { op, path }] of calls.entries()) {
    const problem = problemOfOne(context, op, { value: values[index], path })
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
    const first = problemOf(context, branch(op.left, left, `${path}.l`))
    return first ?? problemOf(context, branch(op.right, right, `${path}.r`))
  }
  return possible(context, op, path).includes(JSON.stringify(value))
    ? undefined
    : `${op.op} at ${path} returned ${JSON.stringify(value)}`
}

/** The possible results of a call, as JSON. */
function possible(context: Context, op: Op, path: string): string[] {
  const { lineage, known } = context
  switch (op.op) {
    case 'step':
      return [
        ...(op.onCrash !== 'retry' && mayHaveCrashed(context) ? [path, CRASHED] : [path]),
        ...(isReplaced(context, op.isShared ? 'work' : `work-${path}`) ? [REPLACED] : []),
      ].map((value) => JSON.stringify(value))
    case 'event':
      return payloads(op.name, op.timeout !== undefined).map((value) => JSON.stringify(value))
    case 'approval':
      return decisions(context, path).map(String)
    case 'trio':
      return decisions(context, path).flatMap((approved) =>
        payloads(op.event, false).map((payload) => JSON.stringify([approved, payload])),
      )
    case 'request':
      return [JSON.stringify(path)]
    case 'version':
      return [...[[1], [2, path]], ...(isReplaced(context, `work-${path}`) ? [[2, REPLACED]] : [])].map((value) =>
        JSON.stringify(value),
      )
    case 'child':
      return known.runs
        .filter((child) => lineage.some(({ id }) => id === child.parentRunId) && pathOf(child) === path)
        .map(outcomeOfChild)
    default:
      return [JSON.stringify(PLAIN[op.op])]
  }
}

const PLAIN = {
  ...{ sleep: 'slept', race: 'raced', emit: 'emitted', microtasks: 'continued', both: 'never', throw: 'never' },
  stumble: 'stumbled',
}

/** A retry interrupts the steps of other branches like a crash. */
const mayHaveCrashed = ({ world, lineage }: Context) =>
  world.restarts > 0 || lineage.some(({ retries = 0 }) => retries > 0)

const payloads = (name: string, canTimeOut: boolean): readonly unknown[] => [
  ...[undefined, ...EMIT_KEYS].map((key) => payloadOf(name, key)),
  ...(canTimeOut ? [null] : []),
]

const decisions = (context: Context, path: string): readonly boolean[] => {
  const name = `ask-${path}`
  const approved = approvalIn(context.lineage, context.known, name)?.status === 'approved'
  return isReplaced(context, name) ? [approved, true] : [approved]
}

/** Whether a fork has stored another result for a call of this name. */
const isReplaced = ({ world, lineage }: Context, name: string): boolean =>
  [...world.environment.witness.replaced.values()].some(
    (call) => call.name === name && lineage.some(({ id }) => id === call.runId),
  )

const pathOf = ({ input }: RunRecord) => (fromJsonText(input) as Input).path
const outcomeOfChild = ({ status, result }: RunRecord) =>
  status === 'completed' ? `${result}` : JSON.stringify(CHILD_FAILED)
