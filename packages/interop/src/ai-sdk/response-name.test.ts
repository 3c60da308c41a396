import { describe, expect, it } from 'vitest'
import { type NamedResponse, parseResponseName, responseName } from './response-name.ts'

describe('the name of a response', () => {
  it.each<NamedResponse>([
    { runId: 'run_1', version: 'workflow' },
    { runId: 'run_1', version: '6' },
    { runId: 'run_1', version: '7', after: { ids: ['apr_1', 'call é/2'] } },
    { runId: 'run_1', version: 'workflow', after: { ref: 'm 1' } },
  ])('is read as it was written: %j', (response) => {
    const name = responseName(response)

    expect(name).toMatch(/^[\w.-]+$/)
    expect(parseResponseName(name)).toEqual(response)
  })

  it('is the id of the run for the first response to WorkflowChatTransport', () => {
    expect(responseName({ runId: 'run_1', version: 'workflow' })).toBe('run_1')
  })

  it.each([
    'chat-1',
    'run_',
    'run_1.8',
    'run_1.x!',
    'run_1.bm8',
    `run_1.${Buffer.from('{"ids":[1]}').toString('base64url')}`,
  ])('is not: %s', (name) => {
    expect(parseResponseName(name)).toBeUndefined()
  })
})
