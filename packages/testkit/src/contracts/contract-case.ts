import type { Storage } from '@perdure/ports'
import { describe, expect, it } from 'vitest'

/**
 * One requirement for every adapter; `run` tests it on an empty storage that no other case uses.
 * `processes` counts the processes behind this storage; call n goes to process n modulo `processes`.
 */
export interface ContractCase {
  readonly title: string
  run(storage: Storage, processes: number): Promise<void>
}

export interface ContractSuite {
  readonly port: string
  readonly cases: readonly ContractCase[]
}

/** A case that an adapter cannot pass, identified by title. */
export interface ContractSkip {
  readonly test: string
  readonly reason: string
}

/** What the suites need from an adapter. */
export interface StorageHarness {
  readonly name: string
  /** Opens an empty storage. The positions of its events may begin anywhere. */
  open(): Promise<Storage>
  /** Releases what `open` acquired, including the storage. If missing, the suite only closes the storage. */
  close?(storage: Storage): Promise<void>
  readonly skips?: readonly ContractSkip[]
  /** How many processes take the calls in turn. Default 1. */
  readonly processes?: number
}

/** Registers the suites with vitest; each case runs on a fresh storage. */
export function registerContract(suites: readonly ContractSuite[], harness: StorageHarness): void {
  const { name, skips = [] } = harness
  for (const { port, cases } of suites) {
    describe(`${port}: ${name}`, () => {
      for (const contractCase of cases) registerCase(contractCase, harness)
    })
  }
  if (skips.length === 0) return
  it(`finds a case for every skip of ${name}`, () => {
    expect(skipsWithoutCase(suites, skips)).toEqual([])
  })
}

/** The skips that match no case. */
export function skipsWithoutCase(suites: readonly ContractSuite[], skips: readonly ContractSkip[]): ContractSkip[] {
  const titles = new Set(suites.flatMap(({ cases }) => cases.map(({ title }) => title)))
  return skips.filter(({ test }) => !titles.has(test))
}

function registerCase({ title, run }: ContractCase, harness: StorageHarness): void {
  const skip = harness.skips?.find(({ test }) => test === title)
  it(title, async (context) => {
    if (skip !== undefined) {
      process.stderr.write(`${harness.name} skips "${title}": ${skip.reason}\n`)
      return context.skip(skip.reason)
    }
    const storage = await harness.open()
    try {
      await run(storage, harness.processes ?? 1)
    } finally {
      await (harness.close?.(storage) ?? storage.close())
    }
  })
}
