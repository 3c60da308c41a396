import { describe, expect, it } from 'vitest'
import { flowProblemOf } from './check-flow.ts'

const key = () => 'a'
const problemOf = (given: object) => flowProblemOf(given)

describe('flowProblemOf', () => {
  it.each([
    {},
    { concurrency: 'parallel' },
    { concurrency: 'single' },
    { concurrency: 'session' },
    { concurrency: { limit: 1 } },
    { concurrency: { limit: 10_000, key: 'user' } },
    { rateLimit: { limit: 1, period: 86_400_000 } },
    { rateLimit: { limit: 10_000, period: 1, key: 'owner' } },
    { debounce: { period: 1, key: 'session' } },
    { debounce: { period: 5, key, maxWait: 5 } },
    { concurrency: { limit: 2, key }, rateLimit: { limit: 2, period: 5, key }, debounce: { period: 5, key } },
  ])('accepts %j', (given) => {
    expect(problemOf(given)).toBeUndefined()
  })

  it.each<[unknown, string]>([
    ['none', 'concurrency must be parallel, single, session or { limit, key }'],
    [3, 'concurrency must be parallel, single, session or { limit, key }'],
    [null, 'concurrency must be an object'],
    [[], 'concurrency must be an object'],
    [{}, 'concurrency.limit is missing'],
    [{ limit: 0 }, 'concurrency.limit must be an integer from 1 to 10000'],
    [{ limit: 10_001 }, 'concurrency.limit must be an integer from 1 to 10000'],
    [{ limit: '3' }, 'concurrency.limit must be an integer from 1 to 10000'],
    [{ limit: 1, key: 'customer' }, 'concurrency.key must be session, user, owner or a function'],
    [{ limit: 1, kay: key }, 'concurrency: kay is not an option (did you mean key?); the options are limit, key'],
  ])('rejects the concurrency %j', (concurrency, problem) => {
    expect(problemOf({ concurrency })).toBe(problem)
  })

  it.each<[unknown, string]>([
    [null, 'rateLimit must be an object'],
    ['10/s', 'rateLimit must be an object'],
    [{ period: 1 }, 'rateLimit.limit is missing'],
    [{ limit: 1 }, 'rateLimit.period is missing'],
    [{ limit: 1.5, period: 1 }, 'rateLimit.limit must be an integer from 1 to 10000'],
    [{ limit: 1, period: 0 }, 'rateLimit.period must be a duration from 1 to 86400000 milliseconds'],
    [{ limit: 1, period: 86_400_001 }, 'rateLimit.period must be a duration from 1 to 86400000 milliseconds'],
    [{ limit: 1, period: 1, key: null }, 'rateLimit.key must be session, user, owner or a function'],
    [{ limit: 1, periodMs: 1 }, 'rateLimit: periodMs is not an option (did you mean period?)'],
  ])('rejects the rateLimit %j', (rateLimit, problem) => {
    expect(problemOf({ rateLimit })).toContain(problem)
  })

  it.each<[unknown, string]>([
    [null, 'debounce must be an object'],
    [500, 'debounce must be an object'],
    [{ key }, 'debounce.period is missing'],
    [{ period: 5 }, 'debounce.key is missing'],
    [{ period: Number.NaN, key }, 'debounce.period must be a number of milliseconds, or a text such as'],
    [{ period: '1 second', key }, 'debounce.period must be a number of milliseconds, or a text such as'],
    [{ period: 5, key: 'thread' }, 'debounce.key must be session, user, owner or a function'],
    [{ period: 5, key, maxWait: 0 }, 'debounce.maxWait must be a duration from 1 to 31536000000 milliseconds'],
    [{ period: 5, key, maxWait: 4 }, 'debounce.maxWait must not be less than debounce.period'],
    [{ period: 5, key, limit: 1 }, 'debounce: limit is not an option'],
  ])('rejects the debounce %j', (debounce, problem) => {
    expect(problemOf({ debounce })).toContain(problem)
  })
})
