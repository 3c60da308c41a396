import type { ToolDeclaration } from '@perdure/core'
import { isFunction, type Sdk } from '../sdk.ts'
import type { ToolLike, Tools } from './tool.ts'

/** How an agent declares its tools; `undefined` for a tool that its provider executes, or that does not exist. */
export interface ToolDeclarations {
  of(name: string): ToolDeclaration | undefined
  /** The declaration for a complete call. No executor is known for an input that the tool does not take. */
  ofCall(name: string, input: unknown): Promise<ToolDeclaration | undefined>
}

export const NO_TOOLS: ToolDeclarations = { of: () => undefined, ofCall: async () => undefined }

export function declarationsOf(sdk: Sdk, tools: Tools): ToolDeclarations {
  const of = (name: string) => (Object.hasOwn(tools, name) ? declarationOf(tools[name] as ToolLike) : undefined)
  return {
    of,
    async ofCall(name, input) {
      const declared = of(name)
      if (declared?.executor === undefined || (await isTaken(sdk, tools[name] as ToolLike, input))) return declared
      const { executor: _, ...rest } = declared
      return rest
    },
  }
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

/** Whether the SDK will execute the tool, as far as that can be known before it parses the call. */
async function isTaken(sdk: Sdk, { inputSchema }: ToolLike, input: unknown): Promise<boolean> {
  try {
    const text = typeof input === 'string' && input.trim() === '' ? '{}' : input
    const value: unknown = typeof text === 'string' ? JSON.parse(text) : text
    const result = await sdk.asSchema(inputSchema as never).validate?.(value)
    return result?.success !== false
  } catch {
    return false
  }
}
