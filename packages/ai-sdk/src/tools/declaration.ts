import type { ToolDeclaration } from '@perdure/core'
import { isFunction } from '../sdk.ts'
import type { ToolLike, Tools } from './tool.ts'

/** How an agent with these tools declares the tool with this name; `undefined` for a tool that its provider executes. */
export function declaring(tools: Tools): (name: string) => ToolDeclaration | undefined {
  return (name) => (Object.hasOwn(tools, name) ? declarationOf(tools[name] as ToolLike) : undefined)
}

function declarationOf({ type, title, execute, isProviderExecuted }: ToolLike): ToolDeclaration | undefined {
  const isOnServer = isFunction(execute)
  if (type === 'provider' && !isOnServer && isProviderExecuted !== false) return undefined
  return {
    declared: type === 'dynamic' ? 'dynamic' : 'static',
    ...(title === undefined ? {} : { title }),
    ...(isOnServer ? { executor: 'server' } : {}),
  }
}
