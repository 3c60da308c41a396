import fc from 'fast-check'
import type { Op } from './engine-op.fixture.ts'

/** Code that can be deployed, as its differences from the first code. */
export interface Code {
  /** Makes one more step before all others. */
  readonly hasFront: boolean
  /** No longer makes the first step. */
  readonly isShort: boolean
  /** Calls `ctx.version` with this range after the first call, and makes one more step under version 2. */
  readonly range: readonly [number, number] | undefined
  /** Makes the note of a trio only after its approval. */
  readonly isLate: boolean
}

export const FIRST_CODE: Code = { hasFront: false, isShort: false, range: undefined, isLate: false }

/** The versions that a deployment registers for `VERSIONED` targets; the first is the default. */
export type Versions = readonly (string | undefined)[]

export interface Deployment {
  readonly code: Code
  readonly versions: Versions
}

/** The targets that a deployment can register in several versions. */
export const VERSIONED = ['flow', 'parallel', 'queueing']

/** The versions in which a deployment registers a target. */
export const versionsOf = ({ versions }: Deployment, id: string): readonly { readonly version?: string }[] =>
  (VERSIONED.includes(id) ? versions : [undefined]).map((version) => (version === undefined ? {} : { version }))

/** The code of a registration with a version never changes. */
const CODE_OF_VERSION: Readonly<Record<string, Code>> = { a: FIRST_CODE, b: { ...FIRST_CODE, hasFront: true } }
export const codeOf = (version: string | undefined, unversioned: Code): Code =>
  version === undefined ? unversioned : (CODE_OF_VERSION[version] ?? unversioned)

export const FIRST_VERSIONS: Versions = [undefined]
export const ALL_VERSIONS: Versions = [undefined, 'a', 'b']

export const nameOf = ({ hasFront, isShort, range, isLate }: Code): string =>
  [hasFront ? 'front' : '', isShort ? 'short' : '', range?.join('-') ?? '', isLate ? 'late' : ''].join('/')

/** A call of the code, and where its program has it. */
export interface Placed {
  readonly op: Op
  readonly path: string
}

/**
 * The calls that the code makes for one part of a program. Code that leaves branches in the background stays unchanged:
 * their calls would have no defined order among the new calls.
 */
export function callsOf(code: Code, ops: readonly Op[], path: string): readonly Placed[] {
  const all = ops.map((op, index) => ({ op, path: `${path}.${index}` }))
  if (ops.some(leavesBranches)) return all
  const [front, extra] = [stepAt(`${path}.front`), versionAt(`${path}.version`, code.range)]
  const first = all.findIndex(({ op }) => op.op === 'step')
  const kept = all.flatMap((one, index): Placed[] => {
    const { op } = one
    const own = op.op === 'trio' ? [{ ...one, op: { ...op, isLate: code.isLate } }] : [one]
    return [...(code.isShort && index === first ? [] : own), ...(index === 0 ? extra : [])]
  })
  return [...(code.hasFront ? [front] : []), ...kept]
}

const stepAt = (path: string): Placed => ({
  op: { op: 'step', isShared: false, onCrash: 'retry', fails: 0, takesMs: 0 },
  path,
})

const versionAt = (path: string, range: Code['range']): readonly Placed[] =>
  range === undefined ? [] : [{ op: { op: 'version', range }, path }]

const leavesBranches = (op: Op): boolean =>
  op.op === 'race' || (op.op === 'both' && [...op.left, ...op.right].some(leavesBranches))

/** The calls of a program, those of its branches included. */
export const allOps = (ops: readonly Op[]): readonly Op[] =>
  ops.flatMap((op) => [op, ...(op.op === 'both' || op.op === 'race' ? allOps([...op.left, ...op.right]) : [])])

const RANGES = [undefined, [1, 1], [1, 2], [2, 2]] as const

/** Every code that differs in what a run may have recorded. */
export const EVERY_CODE: readonly Code[] = [false, true].flatMap((hasFront) =>
  [false, true].flatMap((isShort) =>
    [undefined, [1, 2], [1, 1]].flatMap((range) =>
      [false, true].map((isLate): Code => ({ hasFront, isShort, range: range as Code['range'], isLate })),
    ),
  ),
)

const rarely = fc.constantFrom(false, false, true)

export const codes: fc.Arbitrary<Code> = fc.oneof(
  { weight: 2, arbitrary: fc.constant(FIRST_CODE) },
  { weight: 2, arbitrary: fc.constant<Code>({ ...FIRST_CODE, isLate: true }) },
  {
    weight: 5,
    arbitrary: fc.record<Code>({
      hasFront: rarely,
      isShort: rarely,
      range: fc.constantFrom(...RANGES, RANGES[2]),
      isLate: rarely,
    }),
  },
)

export const versionLists: fc.Arbitrary<Versions> = fc.constantFrom<Versions>(
  [undefined],
  [undefined],
  ['a'],
  ['b', 'a'],
  ['b'],
  ['a', undefined],
  ALL_VERSIONS,
)
