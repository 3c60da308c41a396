export { type DurableModelOptions, durableModel, type ModelLike } from './durable-model.ts'
export { type DurableToolOptions, durableTool, type ToolLike } from './durable-tool.ts'
export type { ModelContext, ToolContext } from './run-context.ts'
