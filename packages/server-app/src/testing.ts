export { type RunAgentOptions, runAgent, runWorkflow, type TestRun } from './testing/run-agent.ts'
