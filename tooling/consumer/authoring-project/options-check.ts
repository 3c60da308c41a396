import type { ChatInit, generateText, streamText, Tool, ToolLoopAgent, ToolSet, UIMessage } from 'ai'
import type { CALL_OPTIONS, CHAT_OPTIONS, TOOL_OPTIONS } from './options.ts'

type KeysOf<T> = T extends unknown ? keyof T : never
type Undecided<T, Table> = Exclude<KeysOf<T>, keyof Table>

/** Does not compile when the SDK has an option that the table does not have. */
export const undecided: readonly never[] = [] as readonly (
  | Undecided<Parameters<typeof streamText>[0], typeof CALL_OPTIONS>
  | Undecided<Parameters<typeof generateText>[0], typeof CALL_OPTIONS>
  | Undecided<ConstructorParameters<typeof ToolLoopAgent<never, ToolSet>>[0], typeof CALL_OPTIONS>
  | Undecided<Tool, typeof TOOL_OPTIONS>
  | Undecided<ChatInit<UIMessage>, typeof CHAT_OPTIONS>
)[]
