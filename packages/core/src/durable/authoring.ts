import type { EventPhase } from '@perdure/ports'
import type { JsonPatch } from '@perdure/protocol'
import type { StreamSummary } from '../model-parts/stream-writer.ts'
import type { MakeStream, StreamOptions } from './stream-call.ts'

/** Calls of the run context that show something. Each appends events, like `emit`, and does nothing during a replay. */
export interface Authoring {
  /** Appends text to the answer. A new block begins after `text.end()` and after each durable call. */
  readonly text: TextWriter
  /** Appends to the reasoning, which is sanitized on delivery. */
  readonly reasoning: TextWriter
  /** Shows a state, which replaces the earlier one. `state.patch` changes it. */
  readonly state: StateWriter
  /** Shows named data in a user interface. */
  data(name: string, data: unknown, options?: DataOptions): Promise<void>
  /** Names a source that the answer uses. */
  source(source: SourceReference): Promise<void>
  /**
   * Shows a file: a URL, base64 data up to the limit of an event, or bytes, which a durable call named `files.write` stores
   * first.
   */
  file(file: FileReference): Promise<void>
  /**
   * Calls a model once and shows its stream as it comes. The result is a summary, and a re-execution gets that summary
   * without calling `make`. `make` returns the stream: text, or the chunks of the AI SDK, the OpenAI client or LangChain.
   * Usage that the stream reports counts for the run.
   *
   * @throws PerdureError `step-failed`, as `step` does
   */
  stream(name: string, make: MakeStream, options?: StreamOptions): Promise<StreamSummary>
}

export interface TextWriter {
  (delta: string, options?: { readonly phase?: EventPhase }): Promise<void>
  /** Ends the open block, if there is one. */
  end(): Promise<void>
}

export interface StateWriter {
  (state: unknown): Promise<void>
  /**
   * Changes the state by a JSON Patch (RFC 6902).
   *
   * @throws PerdureError `validation-failed` for a patch that does not apply, and before this code has called `state`
   */
  patch(patch: JsonPatch): Promise<void>
}

export interface DataOptions {
  /** Data with the same name and id replaces earlier data. */
  readonly id?: string
  /** Shown once, and not kept for readers that come later. */
  readonly transient?: boolean
}

export interface SourceReference {
  readonly url?: string
  readonly title?: string
  readonly mediaType?: string
  readonly filename?: string
}

export interface FileReference {
  readonly mediaType: string
  readonly url?: string
  /** Base64, or the bytes of a file to store. */
  readonly data?: string | Uint8Array
  readonly name?: string
}
