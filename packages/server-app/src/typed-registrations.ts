import type { AgentRegistration, WorkflowRegistration } from '@perdure/core'

type List = readonly unknown[]

interface Schema {
  readonly '~standard': { readonly types?: { readonly input: unknown; readonly output: unknown } | undefined }
}

/** What a schema accepts, and what it returns; unknown without a schema. */
type Accepted<S> = S extends Schema ? NonNullable<S['~standard']['types']>['input'] : unknown
type Returned<S> = S extends Schema ? NonNullable<S['~standard']['types']>['output'] : unknown

type At<Items, Index> = Index extends keyof Items ? Items[Index] : unknown
type IdAt<Items, Index> = At<Items, Index> extends infer Id extends string ? Id : string

declare const HINT: unique symbol

interface Hint {
  readonly [HINT]: never
}

/**
 * The ids and schemas of a list of registrations. TypeScript infers one type parameter from each list that it maps
 * over; these lists serve only that. Nothing matches them, because of `Hint`.
 */
type Hints<Ids extends readonly string[], In extends List, Out extends List> =
  | { readonly [Index in keyof Ids]: Hint & { readonly id: Ids[Index] } }
  | { readonly [Index in keyof In]: Hint & { readonly input?: In[Index] } }
  | { readonly [Index in keyof Out]: Hint & { readonly output?: Out[Index] } }

/**
 * Agents as an inline list. Each infers the types of its code from its schemas; without a schema they are `unknown`.
 * The mutable form comes last, because TypeScript reports the errors of an array literal against it.
 */
export type AgentList<Inputs extends List, Ids extends readonly string[], In extends List, Out extends List> =
  | Hints<Ids, In, Out>
  | { readonly [Index in keyof Inputs]: AgentRegistration<Inputs[Index], Accepted<At<Out, Index>>> }
  | { -readonly [Index in keyof Inputs]: AgentRegistration<Inputs[Index], Accepted<At<Out, Index>>> }

/** The agents of a list, with their ids and with what clients send and receive. */
export type DefinedAgents<Inputs extends List, Ids extends readonly string[], In extends List, Out extends List> = {
  readonly [Index in keyof Inputs]: AgentRegistration<
    Inputs[Index],
    Accepted<At<Out, Index>>,
    IdAt<Ids, Index>,
    Accepted<At<In, Index>>,
    Returned<At<Out, Index>>
  >
}

/**
 * Workflows as an inline list. Each infers the types of its code from its schemas; without a schema they are `unknown`.
 * The mutable form comes last, because TypeScript reports the errors of an array literal against it.
 */
export type WorkflowList<Inputs extends List, Ids extends readonly string[], In extends List, Out extends List> =
  | Hints<Ids, In, Out>
  | { readonly [Index in keyof Inputs]: WorkflowRegistration<Inputs[Index], Accepted<At<Out, Index>>> }
  | { -readonly [Index in keyof Inputs]: WorkflowRegistration<Inputs[Index], Accepted<At<Out, Index>>> }

/** The workflows of a list, with their ids and with what clients send and receive. */
export type DefinedWorkflows<Inputs extends List, Ids extends readonly string[], In extends List, Out extends List> = {
  readonly [Index in keyof Inputs]: WorkflowRegistration<
    Inputs[Index],
    Accepted<At<Out, Index>>,
    IdAt<Ids, Index>,
    Accepted<At<In, Index>>,
    Returned<At<Out, Index>>
  >
}
