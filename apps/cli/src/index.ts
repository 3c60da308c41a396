export { EXIT_CODES } from './exit-codes.ts'
export { runCli } from './run-cli.ts'
export type { Interruption, Interruptions, Terminal, TextSink } from './terminal.ts'
