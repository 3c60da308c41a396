import { AppError } from '@perdure/ports'
import fc from 'fast-check'
import type { RunContext } from '../targets/run-context.ts'

/** One call of a generated program, as data, so that its outcome can be predicted without executing it. */
export type Op =
  | {
      readonly op: 'step'
      readonly isShared: boolean // has the same name as other steps
      readonly onCrash: 'retry' | 'fail' | 'ask'
      readonly fails: number // failed attempts before it succeeds, in one process
      readonly takesMs: number
    }
  | { readonly op: 'sleep'; readonly ms: number }
  | { readonly op: 'event'; readonly name: string; readonly timeoutMs: number | undefined }
  | { readonly op: 'approval'; readonly timeoutMs: number | undefined }
  | { readonly op: 'both' | 'race'; readonly left: readonly Op[]; readonly right: readonly Op[] }
  | { readonly op: 'child'; readonly agentId: string; readonly ops: readonly Op[] }
  | { readonly op: 'emit'; readonly isAwaited: boolean }
  | { readonly op: 'microtasks'; readonly count: number }
  | { readonly op: 'throw' }

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
/** The prefix of names of steps that ask for an approval after a crash. */
export const UNSURE = 'unsure'

/** The outside world, in which a step takes effect when its work is done. */
export interface Outside {
  readonly after: (ms: number) => Promise<void>
  readonly effect: (effectId: string) => void
}

export async function execute(program: Program, context: RunContext, outside: Outside): Promise<unknown> {
  const { part = 0, values = [] } = (context.resume?.state ?? {}) as { part?: number; values?: unknown[] }
  const decided = context.resume?.approvals.map(({ name, granted }) => [name, granted]) ?? []
  const own = await executeOps(program.parts[part] ?? [], { context, outside, path: `${part}` })
  const all = [...values, decided, own]
  if (part + 1 >= program.parts.length) return all
  const approvals = Array.from({ length: program.approvals[part] ?? 0 }, (_, index) => ({
    name: `own:${part}.${index}`,
    ...(program.approvalTimeoutMs === undefined ? {} : { timeoutMs: program.approvalTimeoutMs + index }),
  }))
  return context.suspend({ approvals, state: { part: part + 1, values: all } })
}

interface CallSite {
  readonly context: RunContext
  readonly outside: Outside
  readonly path: string
}

async function executeOps(ops: readonly Op[], site: CallSite): Promise<unknown[]> {
  const values: unknown[] = []
  for (const [index, op] of ops.entries()) values.push(await EXECUTE[op.op](op as never, at(site, index)))
  return values
}

const at = (site: CallSite, index: number | string): CallSite => ({
  ...site,
  path: `${site.path}.${index}`,
})

const EXECUTE: {
  readonly [Name in Op['op']]: (op: Extract<Op, { op: Name }>, site: CallSite) => Promise<unknown>
} = {
  async step({ isShared, onCrash, fails, takesMs }, { context, outside, path }) {
    const retry = { maxAttempts: fails + 1, initialDelayMs: 10 }
    const work = async ({ effectId, attempt }: { readonly effectId: string; readonly attempt: number }) => {
      if (takesMs > 0) await outside.after(takesMs)
      if (attempt <= fails) throw new Error('not yet')
      outside.effect(effectId)
      return path
    }
    try {
      const name = onCrash === 'ask' ? `${UNSURE}-${path}` : `work-${path}`
      return await context.step(isShared && onCrash !== 'ask' ? 'work' : name, work, { retry, onCrash })
    } catch (error) {
      return recovered(error, CRASHED)
    }
  },
  sleep: async ({ ms }, { context }) => (await context.sleep('nap', ms)) ?? 'slept',
  event: ({ name, timeoutMs }, { context }) => context.waitForEvent(name, timeoutMs === undefined ? {} : { timeoutMs }),
  async approval({ timeoutMs }, { context, path }) {
    const options = timeoutMs === undefined ? {} : { timeoutMs }
    const { granted } = await context.approval(`ask-${path}`, options)
    return granted
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
      return await context.agents.run(agentId, { path, program })
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
}

/** Replaces an expected error by `value` and rethrows any other. */
function recovered(error: unknown, value: string): string {
  const isKnown = error instanceof AppError ? error.id === 'step-failed' : (error as { code?: string }).code === THROWN
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
  timeoutMs: timeout,
})
const approval = fc.record({ op: fc.constant('approval' as const), timeoutMs: timeout })
const emit = (isAwaited: boolean) => fc.constant({ op: 'emit' as const, isAwaited })
const microtasks = fc.record({ op: fc.constant('microtasks' as const), count: fc.nat(5) })
const thrown = fc.constant({ op: 'throw' as const })

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
  const forkOf = (ops: fc.Arbitrary<Op[]>): fc.WeightedArbitrary<Op> =>
    weighted(
      4,
      fc.record({ op: fc.constantFrom('both' as const, 'both' as const, 'race' as const), left: ops, right: ops }),
    )
  const flat = opsOf(leaves, 3)
  const flatNamed = opsOf(named, 4)
  const nested = opsOf([...leaves, childOf(flat), forkOf(flat)], 3)
  const deepNamed = opsOf([...named, forkOf(flatNamed)], 4)
  const part = opsOf([...leaves, weighted(1, emit(true)), childOf(nested), forkOf(nested), forkOf(deepNamed)], 4)
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
