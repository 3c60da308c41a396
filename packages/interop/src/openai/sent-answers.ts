import type { SentToolResult } from '@perdure/core'
import type { SentDecision } from '../chat/pass-answers.ts'

/** The result of a call that the client has executed. */
export interface ToolAnswer extends SentToolResult {
  readonly runId: string
}

/** The output of a function is a text; JSON in it is the value. */
export function parsedOutput(output: string): unknown {
  try {
    return JSON.parse(output)
  } catch {
    return output
  }
}

/** What a client answers: approvals that an earlier answer has asked for, and calls that the client executed. */
export interface SentAnswers {
  readonly decisions: readonly SentDecision[]
  readonly results: readonly ToolAnswer[]
}
