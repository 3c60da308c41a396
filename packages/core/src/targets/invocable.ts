import type { RunKind } from '@perdure/ports'
import type { DefinedTypes } from '@perdure/protocol'

/** What `ctx.invoke` needs of a definition. */
export interface Invocable extends DefinedTypes {
  readonly kind: RunKind
  readonly id: string
  readonly version?: string
}
