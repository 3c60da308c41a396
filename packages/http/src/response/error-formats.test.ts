import { AppError } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { errorBody } from './error-formats.ts'

describe('errorBody', () => {
  it.each([
    ['without a hint', {}, 'No agent is registered under this id (agent-not-found)'],
    ['with a hint', { hint: 'list them' }, 'No agent is registered under this id (agent-not-found): list them'],
  ])('is one line of text for the AI SDK, %s', (_, more, text) => {
    expect(errorBody(new AppError('agent-not-found', more), 'req_1', { dialect: 'ai-sdk' }).text).toBe(text)
  })
})
