export type { ApprovalResource, RunRequestBody, RunResource, SubmittedDecision } from '@perdure/core'
export { type RunAgentOptions, runAgent, runWorkflow, type TestRun } from '@perdure/server-app/testing'
