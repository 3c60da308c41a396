/** The figures of a floor and of the subject measured against that floor, in the same unit. */
export interface Comparison {
  readonly case: string // F1, F2, …
  readonly variant: string
  readonly unit: string
  readonly floor: readonly number[]
  readonly subject: readonly number[]
  /** Limit for the subject's median divided by the floor's median, or for the subject's median itself. */
  readonly goal?: { readonly atLeast: number } | { readonly atMost: number } | { readonly below: number }
  readonly note?: string
  /** Measured in the same rounds, for the columns of the table. */
  readonly load?: { readonly floor: readonly LoadCost[]; readonly subject: readonly LoadCost[] }
}

/** The time and processor use of the requests of one round. */
export interface LoadCost {
  readonly p99Ms: number
  /** Processor time of the server per request. */
  readonly cpuMicros: number
}

export interface Pair {
  readonly floor: () => Promise<number>
  readonly subject: () => Promise<number>
}

/** Alternates between floor and subject, so that other load on the machine affects both. */
export async function alternate(
  rounds: number,
  { floor, subject }: Pair,
): Promise<Pick<Comparison, 'floor' | 'subject'>> {
  const figures: { floor: number[]; subject: number[] } = { floor: [], subject: [] }
  for (let round = 0; round < rounds; round++) {
    figures.floor.push(await floor())
    figures.subject.push(await subject())
  }
  return figures
}

export function median(figures: readonly number[]): number {
  const sorted = [...figures].sort((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2
}

export const ratioOf = ({ floor, subject }: Pick<Comparison, 'floor' | 'subject'>): number =>
  median(subject) / median(floor)

/** Range of the figures as a share of their median. */
export const spreadOf = (figures: readonly number[]): number =>
  (Math.max(...figures) - Math.min(...figures)) / median(figures)

export function isMet({ goal, floor, subject }: Comparison): boolean | undefined {
  if (goal === undefined) return undefined
  if ('below' in goal) return median(subject) < goal.below
  const ratio = ratioOf({ floor, subject })
  return 'atLeast' in goal ? ratio >= goal.atLeast : ratio <= goal.atMost
}
