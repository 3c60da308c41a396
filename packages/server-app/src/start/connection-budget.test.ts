import { type LogFields, StartError } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import {
  affordableConnections,
  checkDescriptors,
  MIN_FREE_DESCRIPTORS,
  RESERVED_DESCRIPTORS,
  startErrorOf,
} from './connection-budget.ts'

const refusal = expect.objectContaining({
  kind: 'descriptor-limit',
  message: expect.stringMatching(/\d+ are in use$/),
  hint: expect.stringContaining('ulimit -n'),
})

function thrownBy(action: () => void): unknown {
  try {
    action()
  } catch (error) {
    return error
  }
  return undefined
}

describe('checkDescriptors', () => {
  it('refuses a start with too few free descriptors', () => {
    const use = { limit: MIN_FREE_DESCRIPTORS + 22, open: 23 }

    expect(thrownBy(() => checkDescriptors(use))).toEqual(refusal)
    expect(thrownBy(() => checkDescriptors({ ...use, open: 22 }))).toBeUndefined()
  })

  it('accepts a start on a system that publishes no limit', () => {
    expect(thrownBy(() => checkDescriptors(undefined))).toBeUndefined()
  })
})

describe('affordableConnections', () => {
  const collect = (configured: number, use: Parameters<typeof affordableConnections>[1]) => {
    const warned: (LogFields | undefined)[] = []
    const logger = { warn: (_: string, fields?: LogFields) => void warned.push(fields) }
    return [affordableConnections(configured, use, logger), warned]
  }

  it('returns the configured number if the limit on open files permits it', () => {
    expect(collect(100, { limit: 130 + RESERVED_DESCRIPTORS, open: 30 })).toEqual([100, []])
    expect(collect(10_000, undefined)).toEqual([10_000, []])
  })

  it('returns a lower number that leaves the reserve free, and warns', () => {
    const warning = { openFiles: 1_024, maxConnections: 924, configured: 10_000 }

    expect(collect(10_000, { limit: 1_024, open: 36 })).toEqual([1_024 - 36 - RESERVED_DESCRIPTORS, [warning]])
  })

  it('refuses a start that leaves room for hardly any connection', () => {
    expect(thrownBy(() => collect(100, { limit: RESERVED_DESCRIPTORS + 37, open: 30 }))).toEqual(refusal)
  })
})

describe('startErrorOf', () => {
  const plenty = { limit: 1_024, open: 30 }
  const shortage = Object.assign(new Error('too many open files'), { code: 'EMFILE' })
  const invalid = (cause?: Error) => new StartError('config-invalid', { message: 'no', hint: 'yes', cause })

  it.each<[string, readonly unknown[], typeof plenty]>([
    ['the error of a full descriptor table', [shortage], plenty],
    ['an error that it caused', [invalid(new Error('wrapped', { cause: shortage }))], plenty],
    ['an error beside it', [invalid(), shortage], plenty],
    ['any error while hardly a descriptor is free', [invalid()], { limit: 64, open: 60 }],
  ])('replaces %s', (_, errors, use) => {
    expect(startErrorOf(errors, () => use)).toEqual(refusal)
    expect((startErrorOf(errors, () => use) as Error).cause).toBe(errors[0])
  })

  it('replaces any error while no descriptor is free to count them', () => {
    const readUse = () => {
      throw shortage
    }

    expect(startErrorOf([invalid()], readUse)).toMatchObject({ kind: 'descriptor-limit' })
  })

  it('returns any other error', () => {
    const error = invalid(new Error('other'))

    expect(startErrorOf([error, undefined], () => plenty)).toBe(error)
    expect(startErrorOf([error], () => undefined)).toBe(error)
  })
})
