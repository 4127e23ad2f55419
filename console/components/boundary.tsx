/** Keeps a failure of what is inside from taking down what is around it. React has no other way than a class. docs/decisions/0710 */
import { Component, type ReactNode } from 'react';

export interface Fault {
  readonly error: unknown;
  /** Renders what is inside again. */
  readonly onRetry: () => void;
}

interface BoundaryProps {
  /** What is inside: when it is something else, it is rendered again. */
  readonly about: string;
  readonly show: (fault: Fault) => ReactNode;
  readonly children: ReactNode;
}

interface BoundaryState {
  readonly about: string;
  /** `undefined`: nothing has failed. */
  readonly failed: { readonly error: unknown } | undefined;
}

export class Boundary extends Component<BoundaryProps, BoundaryState> {
  override state: BoundaryState = { about: this.props.about, failed: undefined };

  static getDerivedStateFromError(error: unknown): Partial<BoundaryState> {
    return { failed: { error } };
  }

  static getDerivedStateFromProps({ about }: BoundaryProps, state: BoundaryState): BoundaryState | null {
    return about === state.about ? null : { about, failed: undefined };
  }

  override render(): ReactNode {
    const { show, children } = this.props;
    const { failed } = this.state;
    if (failed === undefined) return children;
    return show({ error: failed.error, onRetry: () => this.setState({ failed: undefined }) });
  }
}
