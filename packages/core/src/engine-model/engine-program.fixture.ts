import { isRefusal } from '@perdure/ports'
import fc from 'fast-check'
import { NonRetryableError } from '../runs/non-retryable-error.ts'
import type { RunContext } from '../targets/run-context.ts'
import { type Code, callsOf, type Placed } from './engine-code.fixture.ts'
import type { Op } from './engine-op.fixture.ts'

/** Parts that execute in sequence; the run suspends itself between them. */
export interface Program {
  readonly parts: readonly (readonly Op[])[]
  /** The number of approvals that the suspension after each part requests. */
  readonly approvals: readonly number[]
  /** The timeout of these approvals. */
  readonly approvalTimeoutMs?: number | undefined
}

export const CRASHED = 'crashed'
export const CHILD_FAILED = 'child failed'
export const THROWN = 'thrown'
export const STUMBLED = 'stumbled'
export const FINAL = 'final'
/** The result that a fork stores in place of that of a step. */
export const REPLACED = 'replaced'
/** The prefix of names of steps that ask for an approval after a crash. */
export const UNSURE = 'unsure'

/** The outside world, in which a step takes effect when its work is done. */
export interface Outside {
  readonly after: (ms: number) => Promise<void>
  readonly effect: (idempotencyKey: string) => void
  /** Whether requests to it fail. */
  readonly isDown: () => boolean
  /** How often this was called for the run and the path. */
  readonly visit: (runId: string, path: string) => number
  /** Notes what `ctx.version` has returned. */
  readonly versionOf: (runId: string, answer: { readonly version: number; readonly min: number }) => void
}

/** The program of a run, and the code that executes it. */
export interface Execution {
  readonly program: Program
  readonly code: Code
  readonly context: RunContext
  readonly outside: Outside
}

export async function execute({ program, code, context, outside }: Execution): Promise<unknown> {
  const { part = 0, values = [] } = (context.resume?.state ?? {}) as { part?: number; values?: unknown[] }
  const decided = context.resume?.approvals.map(({ name, approved }) => [name, approved]) ?? []
  const calls = callsOf(code, program.parts[part] ?? [], `${part}`)
  const own = await executeCalls(calls, { context, outside, path: '' })
  const all = [...values, decided, { code, values: own }]
  if (part + 1 >= program.parts.length) return all
  const approvals = Array.from({ length: program.approvals[part] ?? 0 }, (_, index) => ({
    name: `own:${part}.${index}`,
    ...(program.approvalTimeoutMs === undefined ? {} : { timeout: program.approvalTimeoutMs + index }),
  }))
  return context.suspend({ approvals, state: { part: part + 1, values: all } })
}

interface CallSite {
  readonly context: RunContext
  readonly outside: Outside
  readonly path: string
}

async function executeCalls(calls: readonly Placed[], site: CallSite): Promise<unknown[]> {
  const values: unknown[] = []
  for (const { op, path } of calls) values.push(await EXECUTE[op.op](op as never, { ...site, path }))
  return values
}

const executeOps = (ops: readonly Op[], site: CallSite): Promise<unknown[]> =>
  executeCalls(
    ops.map((op, index) => ({ op, path: at(site, index).path })),
    site,
  )

const at = (site: CallSite, index: number | string): CallSite => ({
  ...site,
  path: `${site.path}.${index}`,
})

const EXECUTE: {
  readonly [Name in Op['op']]: (op: Extract<Op, { op: Name }>, site: CallSite) => Promise<unknown>
} = {
  async step({ isShared, onCrash, fails, takesMs }, { context, outside, path }) {
    const retries = { max: fails, delay: 10 }
    const work = async ({ idempotencyKey, attempt }: { readonly idempotencyKey: string; readonly attempt: number }) => {
      if (takesMs > 0) await outside.after(takesMs)
      if (attempt <= fails) throw new Error('not yet')
      outside.effect(idempotencyKey)
      return path
    }
    try {
      const name = onCrash === 'ask' ? `${UNSURE}-${path}` : `work-${path}`
      return await context.step(isShared && onCrash !== 'ask' ? 'work' : name, work, { retries, onCrash })
    } catch (error) {
      return recovered(error, CRASHED)
    }
  },
  sleep: async ({ ms }, { context }) => (await context.sleep('nap', ms)) ?? 'slept',
  event: ({ name, timeout }, { context }) => context.waitForEvent(name, timeout === undefined ? {} : { timeout }),
  async approval({ timeout }, { context, path }) {
    const options = timeout === undefined ? {} : { timeout }
    const { approved } = await context.approval(`ask-${path}`, options)
    return approved
  },
  async both({ left, right }, site) {
    const branches = [executeOps(left, at(site, 'l')), executeOps(right, at(site, 'r'))]
    const settled = await Promise.allSettled(branches)
    for (const one of settled) if (one.status === 'rejected') recovered(one.reason, THROWN)
    return settled.map((one) => (one.status === 'fulfilled' ? one.value : THROWN))
  },
  async race({ left, right }, site) {
    const branches = [executeOps(left, at(site, 'l')), executeOps(right, at(site, 'r'))]
    for (const branch of branches) branch.catch(() => undefined)
    await Promise.race(branches).catch((error: unknown) => recovered(error, THROWN))
    return 'raced'
  },
  async child({ agentId, ops }, { context, path }) {
    const program: Program = { parts: [ops], approvals: [] }
    try {
      return await context.invoke(agentId, { path, program })
    } catch (error) {
      return recovered(error, CHILD_FAILED)
    }
  },
  async emit({ isAwaited }, { context, path }) {
    const durable = context.emit('note.emitted', { path })
    if (isAwaited) await durable
    return 'emitted'
  },
  async microtasks({ count }) {
    for (let n = 0; n < count; n++) await undefined
    return 'continued'
  },
  async throw() {
    throw Object.assign(new Error(THROWN), { code: THROWN })
  },
  request: ({ takesMs }, { context, outside, path }) =>
    context.step(`request-${path}`, async ({ idempotencyKey }) => {
      if (takesMs > 0) await outside.after(takesMs)
      if (outside.isDown()) throw new Error('down')
      outside.effect(idempotencyKey)
      return path
    }),
  async stumble({ times, isFinal }, { context, outside, path }) {
    if (outside.visit(context.runId, path) > times) return 'stumbled'
    if (isFinal) throw new NonRetryableError(FINAL, { code: FINAL })
    throw Object.assign(new Error(STUMBLED), { code: STUMBLED })
  },
  async trio({ event: name, isLate }, { context, outside, path }) {
    const asked = context.approval(`ask-${path}`)
    const note = () => context.step(`note-${path}`, ({ idempotencyKey }) => outside.effect(idempotencyKey))
    const noted = isLate ? asked.then(note) : note()
    const [{ approved }, , payload] = await Promise.all([asked, noted, context.waitForEvent(name)])
    return [approved, payload]
  },
  async version({ range: [min, max] }, { context, outside, path }) {
    const version = await context.version('branch', min, max)
    outside.versionOf(context.runId, { version, min })
    if (version < 2) return [version]
    const work = ({ idempotencyKey }: { readonly idempotencyKey: string }) => {
      outside.effect(idempotencyKey)
      return path
    }
    return [version, await context.step(`work-${path}`, work)]
  },
}

/** Replaces an expected error by `value` and rethrows any other. */
function recovered(error: unknown, value: string): string {
  const isKnown = isRefusal(error) ? error.code === 'step-failed' : (error as { code?: string }).code === THROWN
  if (!isKnown) throw error
  return value
}

export const EVENT_NAMES = ['first', 'second']
/** The payload of an event, emitted with or without a key. */
export const payloadOf = (name: string, key?: string) => `payload of ${name}${key === undefined ? '' : ` under ${key}`}`
export const keyOfPayload = (payload: unknown): string | undefined => / under (.*)$/.exec(String(payload))?.[1]
export const EMIT_KEYS = ['e1', 'e2']

const timeout = fc.option(fc.constantFrom(5, 500, 60_000), { nil: undefined })

const step = fc.record({
  op: fc.constant('step' as const),
  isShared: fc.boolean(),
  onCrash: fc.constantFrom('retry' as const, 'retry' as const, 'fail' as const, 'ask' as const),
  fails: fc.constantFrom(0, 0, 0, 1, 2),
  takesMs: fc.constantFrom(0, 0, 5, 500),
})

const weighted = <T>(weight: number, arbitrary: fc.Arbitrary<T>) => ({ weight, arbitrary })

const sleep = fc.record({ op: fc.constant('sleep' as const), ms: fc.constantFrom(0, 5, 500, 90_000) })
const event = fc.record({
  op: fc.constant('event' as const),
  name: fc.constantFrom(...EVENT_NAMES),
  timeout,
})
const approval = fc.record({ op: fc.constant('approval' as const), timeout })
const emit = (isAwaited: boolean) => fc.constant({ op: 'emit' as const, isAwaited })
const microtasks = fc.record({ op: fc.constant('microtasks' as const), count: fc.nat(5) })
const thrown = fc.constant({ op: 'throw' as const })
const request = fc.record({ op: fc.constant('request' as const), takesMs: fc.constantFrom(0, 0, 5) })
const stumble = fc.record({
  op: fc.constant('stumble' as const),
  times: fc.constantFrom(1, 1, 1, 2, 3),
  isFinal: fc.constantFrom(false, false, false, true),
})
const trio = fc.record({
  op: fc.constant('trio' as const),
  event: fc.constantFrom(...EVENT_NAMES),
  isLate: fc.constant(false),
})
/** Calls that fail or wait in a way that only the code of a whole run may. */
const whole: fc.WeightedArbitrary<Op>[] = [weighted(5, request), weighted(4, stumble)]

const rest = [weighted(2, sleep), weighted(2, approval), weighted(1, microtasks), weighted(1, thrown)]
const leaves: fc.WeightedArbitrary<Op>[] = [weighted(8, step), weighted(3, event), weighted(1, emit(false)), ...rest]
/** Code that awaits anything besides durable calls needs unique step names to keep the calls in order. */
const named: fc.WeightedArbitrary<Op>[] = [
  ...[
    weighted(
      8,
      step.map((one) => ({ ...one, isShared: false })),
    ),
    weighted(2, emit(true)),
  ],
  ...rest,
]

const opsOf = (ops: readonly fc.WeightedArbitrary<Op>[], maxLength: number) =>
  fc.array(fc.oneof(...ops), { maxLength, size: 'max' })

/** Generates programs that call these agents as children. */
export function programs(childIds: readonly string[]): fc.Arbitrary<Program> {
  const childOf = (ops: fc.Arbitrary<Op[]>): fc.WeightedArbitrary<Op> =>
    weighted(3, fc.record({ op: fc.constant('child' as const), agentId: fc.constantFrom(...childIds), ops }))
  const branchesOf = (ops: fc.Arbitrary<Op[]>): fc.WeightedArbitrary<Op> =>
    weighted(
      4,
      fc.record({ op: fc.constantFrom('both' as const, 'both' as const, 'race' as const), left: ops, right: ops }),
    )
  const flat = opsOf(leaves, 3)
  const flatWhole = opsOf([...leaves, ...whole], 3)
  const flatNamed = opsOf(named, 4)
  const nested = opsOf([...leaves, childOf(flatWhole), branchesOf(flat)], 3)
  const deepNamed = opsOf([...named, branchesOf(flatNamed)], 4)
  const branching = [childOf(nested), branchesOf(nested), branchesOf(deepNamed)]
  const part = opsOf([...leaves, ...whole, weighted(4, trio), weighted(1, emit(true)), ...branching], 4)
  return fc.record({
    parts: fc.oneof(
      weighted(
        4,
        part.map((ops) => [ops]),
      ),
      weighted(1, fc.array(part, { minLength: 2, maxLength: 3 })),
    ),
    approvals: fc.array(fc.nat(2), { minLength: 2, maxLength: 2 }),
    approvalTimeoutMs: timeout,
  })
}
