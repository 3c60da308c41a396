/** Takes the text of a stream as fast as its reader does. */
export interface TextSink {
  /** Whether there is room for more text. */
  hasRoom(): boolean
  /** Takes the text, even if there is no room for it. */
  write(text: string): void
  /** Sets the function that the sink calls when there is room again. */
  onDrain(resume: () => void): void
  /** Ends the stream after the text that was written. */
  end(): void
  /** Breaks the stream off, so that its reader does not take it for complete. */
  fail(error: Error): void
}

/** Text that is written while it arises. Holds resources until it has ended or is cancelled. */
export interface TextStream {
  /** Writes the text into the sink. Called at most once. */
  pipeTo(sink: TextSink): void
  /** Ends the stream because nobody reads it any more. The stream does not use its sink afterwards. */
  cancel(): void
}

/** An answer that is sent while it arises. */
export interface StreamAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly stream: TextStream
}
