/**
 * The types of Standard Schema 1.1, which its authors let projects copy: https://standardschema.dev. A schema of Zod,
 * Valibot or ArkType fits them.
 */
export interface StandardSchemaV1<Input = unknown, Output = Input> {
  readonly '~standard': StandardSchemaV1.Props<Input, Output>
}

export declare namespace StandardSchemaV1 {
  interface Props<Input = unknown, Output = Input> {
    readonly version: 1
    readonly vendor: string
    readonly types?: Types<Input, Output> | undefined
    readonly validate: (value: unknown, options?: Options | undefined) => Result<Output> | Promise<Result<Output>>
  }
  interface Types<Input = unknown, Output = Input> {
    readonly input: Input
    readonly output: Output
  }
  interface Options {
    readonly libraryOptions?: Record<string, unknown> | undefined
  }
  type Result<Output> = SuccessResult<Output> | FailureResult
  interface SuccessResult<Output> {
    readonly value: Output
    readonly issues?: undefined
  }
  interface FailureResult {
    readonly issues: readonly Issue[]
  }
  interface Issue {
    readonly message: string
    readonly path?: readonly (PropertyKey | PathSegment)[] | undefined
  }
  interface PathSegment {
    readonly key: PropertyKey
  }
  type InferInput<Schema extends StandardSchemaV1> = NonNullable<Schema['~standard']['types']>['input']
  type InferOutput<Schema extends StandardSchemaV1> = NonNullable<Schema['~standard']['types']>['output']
}

/** The part of Standard JSON Schema that a registration uses. */
export interface JsonSchemaConverter {
  input(options: JsonSchemaOptions): Record<string, unknown>
  output(options: JsonSchemaOptions): Record<string, unknown>
}

interface JsonSchemaOptions {
  readonly target: 'draft-2020-12'
  readonly libraryOptions?: Record<string, unknown> | undefined
}
