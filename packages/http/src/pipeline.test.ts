import { describe, expect, it } from 'vitest'
import { STAGES } from './pipeline.ts'

describe('the pipeline', () => {
  it('runs its stages in the documented order', () => {
    expect(STAGES.map(([name]) => name)).toEqual([
      'request-context',
      'cors',
      'rate-limit',
      'repeated-header',
      'host',
      'origin',
      'route',
      'lease',
      'authentication',
      'csrf',
      'scope',
      'body',
      'body-scope',
      'idempotency',
      'audit',
    ])
  })
})
