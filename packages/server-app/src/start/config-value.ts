import type { ServerConfig } from '@perdure/protocol'

/** The value of a field named by its path, such as `auth.pepperRef`; `undefined` if it is not set. */
export const valueAt = (config: ServerConfig, path: string): unknown =>
  path.split('.').reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], config)
